/// What a handler of a stream is given.
public enum StreamEvent<Value: Sendable>: Sendable {
    case value(Value)
    /// Always the last, and once.
    case complete(StreamCompletion)
}
