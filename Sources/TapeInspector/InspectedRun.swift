package import CassettePlayback
package import TapeBytes

/// A recording or a replay that a page shows while it runs.
package struct InspectedRun: Sendable {
    /// Its progress.
    package struct Counts: Sendable, Equatable {
        package var hits = 0
        package var misses = 0
        package var recorded = 0
        package var lost = 0
        /// Why nothing is being recorded, for people.
        package var problem: String?

        package init() {}
    }

    /// What an isolated program did besides its requests, for people.
    package struct Isolation: Sendable, Equatable {
        /// One line with numbers.
        package var verdict: String
        /// What was refused, each with its program and what to do.
        package var refused: [String]

        package init(verdict: String, refused: [String]) {
            self.verdict = verdict
            self.refused = refused
        }
    }

    /// `record`, `replay`, `run` or `serve`.
    package var command: String
    /// The cassette that is written or replayed, as people named it.
    package var name: String
    package var counts: @Sendable () -> Counts
    /// nil if nothing is replayed.
    package var report: (@Sendable () -> ReplayReport)?
    package var open: OpenExchanges
    /// Whether the recording replaces an older one; nil if no one is asked.
    package var review: ReviewQuestion?
    /// Adds match rules, which apply to requests that arrive from now on; nil if nothing is replayed. Reads from disk.
    package var match: (@Sendable (MatchRuleTexts) throws -> Void)?
    /// Pauses the recording, or goes on, and returns whether it is paused; nil only asks. Nil if nothing is recorded.
    package var pause: (@Sendable (Bool?) -> Bool)?
    /// The rules that change the traffic; nil if the page can neither show nor change them.
    package var rules: InspectedRules?
    /// Nil if the program is not isolated.
    package var isolation: (@Sendable () -> Isolation)?

    package init(
        command: String, name: String, counts: @escaping @Sendable () -> Counts, report: (@Sendable () -> ReplayReport)?,
        open: OpenExchanges
    ) {
        self.command = command
        self.name = name
        self.counts = counts
        self.report = report
        self.open = open
    }
}

/// Exchanges that have begun but are not in the cassette yet.
///
/// Any thread may use it.
package final class OpenExchanges: Sendable {
    struct Exchange: Sendable {
        var id: Int
        var started: Timestamp
        var method: String
        var url: String
    }

    /// The most exchanges that are listed.
    private static let limit = 10_000

    private let exchanges = Guarded<[Int: Exchange]>([:])

    package init() {}

    package func began(id: Int, started: Timestamp, method: String, url: String) {
        self.exchanges.withLock { exchanges in
            guard exchanges.count < Self.limit else { return }
            exchanges[id] = Exchange(id: id, started: started, method: method, url: url)
        }
    }

    /// An exchange will not be in the cassette.
    package func discarded(id: Int) { self.exchanges.withLock { $0[id] = nil } }

    /// An exchange is in the cassette.
    func recorded(_ ids: some Sequence<Int>) {
        self.exchanges.withLock { exchanges in
            for id in ids { exchanges[id] = nil }
        }
    }

    func contains(_ id: Int) -> Bool { self.exchanges.withLock { $0[id] != nil } }

    /// The numbers of exchanges that began before a moment.
    func ids(before moment: Timestamp) -> [Int] {
        self.exchanges.withLock { $0.values.filter { $0.started < moment }.map(\.id) }
    }

    /// The first exchanges, in order of their start.
    func list(_ most: Int, before moment: Timestamp) -> [Exchange] {
        let all = self.exchanges.withLock { $0.values.filter { $0.started < moment } }
        return Array(all.sorted { ($0.started, $0.id) < ($1.started, $1.id) }.prefix(most))
    }
}
