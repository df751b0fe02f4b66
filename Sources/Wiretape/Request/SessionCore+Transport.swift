extension SessionCore {
    /// Of a request that is made now.
    var transportOfNow: any Transport { self.transport ?? Cassette.current.map { ReplayTransport($0) } ?? NoTransport() }
}
