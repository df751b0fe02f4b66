/// What a session has decided so far, for the summary and the exit code of a run.
public struct Verdict: Sendable, Hashable {
    /// Requests answered from the cassette, repetitions included.
    public var hits: Int
    /// How many of the hits were repetitions of a used-up exchange.
    public var repeatedHits: Int
    /// Requests passed on to their origin.
    public var forwarded: Int
    /// Requests refused.
    public var misses: Int
    /// The reports of the first `Session.reportLimit` misses.
    public var reports: [MissReport]
    /// Recorded exchanges that answered nothing, ascending; empty in the modes that replay nothing.
    public var unused: [Int]

    /// Misses that came after the list of reports was full.
    public var unreportedMisses: Int { self.misses - self.reports.count }

    public init(
        hits: Int = 0, repeatedHits: Int = 0, forwarded: Int = 0, misses: Int = 0, reports: [MissReport] = [], unused: [Int] = []
    ) {
        self.hits = hits
        self.repeatedHits = repeatedHits
        self.forwarded = forwarded
        self.misses = misses
        self.reports = reports
        self.unused = unused
    }
}
