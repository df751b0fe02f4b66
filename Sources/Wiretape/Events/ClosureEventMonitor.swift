/// A closure as a monitor.
public struct ClosureEventMonitor: EventMonitor {
    private let handle: @Sendable (SessionEvent) -> Void

    /// - Parameter handle: on the thread where an event happens; returns at once.
    public init(_ handle: @escaping @Sendable (SessionEvent) -> Void) { self.handle = handle }

    public func sessionDid(_ event: SessionEvent) { self.handle(event) }
}

extension EventMonitor where Self == ClosureEventMonitor {
    public static func events(_ handle: @escaping @Sendable (SessionEvent) -> Void) -> ClosureEventMonitor { ClosureEventMonitor(handle) }
}
