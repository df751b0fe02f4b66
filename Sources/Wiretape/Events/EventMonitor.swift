/// Watches what a session does.
///
/// Called in order for each request, on the thread where it happens: returns at once.
public protocol EventMonitor: Sendable {
    func sessionDid(_ event: SessionEvent)
}
