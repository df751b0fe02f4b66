/// Where a request stands.
public enum RequestState: Sendable, Hashable {
    /// Made, and nothing sent: goes out with its first handler, or by `resume()`.
    case initialized
    case resumed
    /// Asks for nothing more until it is resumed; what was on its way still comes.
    case suspended
    case cancelled
    /// With an answer or an error.
    case finished

    /// Whether it is over: nothing changes any more.
    public var isOver: Bool { self == .cancelled || self == .finished }
}
