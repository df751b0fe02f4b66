package import CassettePlayback
package import TapeRecorder
package import TrafficRules

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
    package var rules: RuleEngine
    package var desk: PauseDesk
    /// Whether somebody asks what the clients do with answers that failed.
    package var judgesClient: Bool
}

/// What a page shows of a session's proxy, once there is one. Any thread may call the functions.
package struct SessionProgress: Sendable {
    package var counts: @Sendable () -> ProxyCounts
    /// The time since the session began.
    package var elapsed: @Sendable () -> Duration
    /// What the clients did with answers that failed; nil if nobody asks.
    package var verdict: @Sendable () -> [ClientVerdict.Finding]?
    /// Adds match rules, which apply to requests that arrive from now on. Reads from disk.
    package var match: @Sendable (MatchRuleTexts) throws -> Void
}

/// The page of one session, which another part of the program serves.
package struct SessionPage: Sendable {
    /// Includes the token.
    package var address: String
    /// The page's port, which no session dials.
    package var port: Int
    /// Whether messages that rules pause wait for the page.
    package var pausesMessages: Bool
    package var watch: @Sendable (WatchedExchange) -> Void
    /// Called once there is a proxy.
    package var follow: @Sendable (SessionProgress) -> Void
    package var stop: @Sendable () -> Void

    package init(
        address: String, port: Int, pausesMessages: Bool, watch: @escaping @Sendable (WatchedExchange) -> Void,
        follow: @escaping @Sendable (SessionProgress) -> Void, stop: @escaping @Sendable () -> Void
    ) {
        self.address = address
        self.port = port
        self.pausesMessages = pausesMessages
        self.watch = watch
        self.follow = follow
        self.stop = stop
    }
}
