/// Writes a line for each event: no bodies, no header values, no values of queries.
///
/// Paths are shown: a secret in one is seen. Silent by itself: the lines go where the closure puts them.
public struct LoggingEventMonitor: EventMonitor {
    /// How much is said.
    public enum Detail: Sendable, Hashable {
        /// What is sent, what comes back, and how it ends.
        case exchanges
        /// Every event, each piece of a body too.
        case everything
    }

    private let detail: Detail
    private let write: @Sendable (String) -> Void

    /// - Parameter write: takes a line without its end, on the thread where the event happens.
    public init(_ detail: Detail = .exchanges, write: @escaping @Sendable (String) -> Void) {
        self.detail = detail
        self.write = write
    }

    public func sessionDid(_ event: SessionEvent) {
        guard self.detail == .everything || event.kind.isOfExchange else { return }
        self.write("\(event.requestID.uuidString.prefix(8)) \(event.kind.summary)")
    }
}

extension SessionEvent.Kind {
    fileprivate var isOfExchange: Bool {
        switch self {
        case .started, .redirected, .retried, .cancelled, .finished: true
        case .transport(.head), .transport(.failed): true
        case .validated(let error), .serialized(_, let error): error != nil
        case .created, .adapted, .suspended, .resumed, .transport: false
        }
    }
}
