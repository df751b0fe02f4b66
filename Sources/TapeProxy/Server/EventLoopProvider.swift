public import NIOCore
internal import NIOPosix

/// The event loops that a server runs on, and whether they end with it.
public enum EventLoopProvider: Sendable {
    /// So many threads of its own, which end when it is stopped.
    case own(Int)
    /// All loops of a group that is somebody else's, which has to run until the server has stopped, and goes on then.
    /// `MultiThreadedEventLoopGroup.singleton` is one; one event loop is one, too.
    case shared(any EventLoopGroup)

    /// A thread for each core, at most four: one recorder writes for all of them, and more would only wait for it.
    public static var standard: EventLoopProvider { .own(min(4, max(1, System.coreCount))) }
}
