/// Observes what a session does.
///
/// Called in order for each request, on the thread where it happens: must not block.
public protocol EventMonitor: Sendable {
    func sessionDid(_ event: SessionEvent)
}

/// A closure as a monitor.
public struct ClosureEventMonitor: EventMonitor {
    private let handle: @Sendable (SessionEvent) -> Void

    /// - Parameter handle: called on the thread where an event happens; must not block.
    public init(_ handle: @escaping @Sendable (SessionEvent) -> Void) { self.handle = handle }

    public func sessionDid(_ event: SessionEvent) { self.handle(event) }
}

extension EventMonitor where Self == ClosureEventMonitor {
    public static func events(_ handle: @escaping @Sendable (SessionEvent) -> Void) -> ClosureEventMonitor { ClosureEventMonitor(handle) }
}

/// Several monitors, called in order.
public struct CompositeEventMonitor: EventMonitor {
    public let monitors: [any EventMonitor]

    public init(_ monitors: [any EventMonitor]) { self.monitors = monitors }

    public func sessionDid(_ event: SessionEvent) {
        for monitor in self.monitors { monitor.sessionDid(event) }
    }
}

/// Writes a line for each event, without bodies, header values and query values.
///
/// Shows paths, including a secret in one. Writes only through its closure.
public struct LoggingEventMonitor: EventMonitor {
    /// Which events are written.
    public enum Detail: Sendable, Hashable {
        /// Requests, responses, and how they end.
        case exchanges
        /// Every event, including each chunk of a body.
        case everything
    }

    private let detail: Detail
    private let write: @Sendable (String) -> Void

    /// - Parameter write: takes a line without a line end, on the thread where the event happens.
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
