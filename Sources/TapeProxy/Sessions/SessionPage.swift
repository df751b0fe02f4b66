package import CassettePlayback
package import TapeRecorder

/// A session that a page may show.
package struct ShownSession: Sendable {
    package var name: String
    /// The cassette's name in the server's folder.
    package var cassetteName: String
    /// The file being written, or else the one being replayed.
    package var path: String
    package var session: CassetteSession
    package var recorder: Recorder?
    package var recorded: RecordedCassette?
}

/// The page of one session, which another part of the program serves.
package struct SessionPage: Sendable {
    /// Includes the token.
    package var address: String
    /// The page's port, which no session dials.
    package var port: Int
    package var watch: @Sendable (WatchedExchange) -> Void
    /// Called with a function that returns the session's counts, once there are any.
    package var follow: @Sendable (@escaping @Sendable () -> ProxyCounts) -> Void
    package var stop: @Sendable () -> Void

    package init(
        address: String, port: Int, watch: @escaping @Sendable (WatchedExchange) -> Void,
        follow: @escaping @Sendable (@escaping @Sendable () -> ProxyCounts) -> Void, stop: @escaping @Sendable () -> Void
    ) {
        self.address = address
        self.port = port
        self.watch = watch
        self.follow = follow
        self.stop = stop
    }
}
