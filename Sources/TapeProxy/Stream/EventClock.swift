internal import NIOCore

/// The time of the event that is being handled: read once for each event, since a request takes a dozen looks at it.
///
/// Not Sendable: lives on its event loop.
final class EventClock {
    private let loop: any EventLoop
    private(set) var now: NIODeadline

    init(loop: any EventLoop) {
        self.loop = loop
        self.now = loop.now
    }

    func read() { self.now = self.loop.now }
}
