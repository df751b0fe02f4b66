/// What a session has decided so far, for the summary and the exit code of a run.
public struct Verdict: Sendable, Hashable {
    /// Requests answered from the cassette, repetitions included. Answers that could not be given are not among them.
    public var hits: Int
    /// How many requests were given a used-up exchange again.
    public var repeatedHits: Int
    /// Requests passed on to their origin.
    public var forwarded: Int
    /// Requests refused for want of an exchange; those refused for their order alone are not among them.
    public var misses: Int
    /// The reports of the first `CassetteSession.reportLimit` misses.
    public var reports: [MissReport]
    /// Recorded exchanges that answered nothing, ascending; empty in the modes that replay nothing.
    public var unused: [Int]
    /// Requests that came before or after their turn.
    public var orderViolations: Int
    /// The first `CassetteSession.reportLimit` of them.
    public var violations: [OrderViolation]
    /// Answers that were chosen and could not be given, and requests for which none could be chosen, since the cassette cannot be read.
    public var unserved: Int
    /// The first `CassetteSession.reportLimit` of them.
    public var unservedAnswers: [UnservedAnswer]
    /// What the cassette has lost; nil when it is whole.
    public var damage: String?

    /// Misses that came after the list of reports was full.
    public var unreportedMisses: Int { self.misses - self.reports.count }

    /// What keeps the replay from being clean; empty when every request got its recorded answer and none was left over.
    public var flaws: [VerdictFlaw] {
        VerdictFlaw.allCases.filter { self.count(of: $0) > 0 }
    }

    /// How often a flaw occurred.
    public func count(of flaw: VerdictFlaw) -> Int {
        switch flaw {
        case .miss: self.misses
        case .unused: self.unused.count
        case .order: self.orderViolations
        case .unserved: self.unserved
        case .damage: self.damage == nil ? 0 : 1
        }
    }

    public init(
        hits: Int = 0, repeatedHits: Int = 0, forwarded: Int = 0, misses: Int = 0, reports: [MissReport] = [], unused: [Int] = [],
        orderViolations: Int = 0, violations: [OrderViolation] = [], unserved: Int = 0, unservedAnswers: [UnservedAnswer] = [],
        damage: String? = nil
    ) {
        self.hits = hits
        self.repeatedHits = repeatedHits
        self.forwarded = forwarded
        self.misses = misses
        self.reports = reports
        self.unused = unused
        self.orderViolations = orderViolations
        self.violations = violations
        self.unserved = unserved
        self.unservedAnswers = unservedAnswers
        self.damage = damage
    }
}
