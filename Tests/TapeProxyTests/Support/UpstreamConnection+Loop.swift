import NIOCore

@testable import TapeProxy

extension UpstreamConnection {
    /// A connection on a loop of its own.
    convenience init(route: UpstreamRoute, id: Int, loop: any EventLoop) {
        self.init(route: route, id: id, flushes: FlushQueue(loop: loop), clock: EventClock(loop: loop))
    }
}
