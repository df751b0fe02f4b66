public import TapeCore

/// What a session is to be: which cassette, and how it is replayed and recorded.
public struct SessionOrder: Sendable, Hashable {
    /// Nil takes a free name.
    public var name: SessionName?
    /// The cassette's name in the server's folder.
    public var cassette: String
    public var mode: RecordMode
    public var repetition: Repetition
    public var replayOrder: ReplayOrder
    /// Laid over the cassette's own; empty where those are to hold as they are.
    public var rules: MatchRuleTexts
    /// Whether the session gets a port of its own, for clients that know no proxy credentials.
    public var wantsPort: Bool

    public init(
        name: SessionName? = nil, cassette: String, mode: RecordMode = .once, repetition: Repetition = .never,
        replayOrder: ReplayOrder = .any, rules: MatchRuleTexts = MatchRuleTexts(), wantsPort: Bool = false
    ) {
        self.name = name
        self.cassette = cassette
        self.mode = mode
        self.repetition = repetition
        self.replayOrder = replayOrder
        self.rules = rules
        self.wantsPort = wantsPort
    }
}
