/// A request that collects its answer in memory, and the value made of it.
public typealias DataTask<Value: Sendable> = ContentTask<DataRequest, Value>
