/// Monitors that are told one after the other.
public struct CompositeEventMonitor: EventMonitor {
    public let monitors: [any EventMonitor]

    public init(_ monitors: [any EventMonitor]) { self.monitors = monitors }

    public func sessionDid(_ event: SessionEvent) {
        for monitor in self.monitors { monitor.sessionDid(event) }
    }
}
