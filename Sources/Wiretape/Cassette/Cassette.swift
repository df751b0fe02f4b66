public import TapeCore

/// A cassette in use: what is replayed from it, what is recorded into it, and what was asked of it.
///
/// One for each test or run; it shares nothing with others. The file is the one that the proxy reads and writes.
public final class Cassette: Sendable {
    /// The cassette of the task: sessions without a transport of their own take it, live where there is none.
    @TaskLocal public static var current: Cassette?

    public let path: String
    public let mode: RecordMode
    public let settings: CassetteSettings
    let decider: RequestDecider
    /// Nil where nothing is replayed.
    let player: ReplayPlayer?
    private let recorded: RecordedCassette?
    private let isClosed = Guarded(false)

    /// Opens a cassette.
    ///
    /// Throws `CassetteError` for a file that cannot be read, `MatchRuleError` and `RedactionRuleError` for settings that are none.
    public init(_ path: String, mode: RecordMode = .none, settings: CassetteSettings = CassetteSettings()) throws {
        let recorded = try RecordedCassette(path: path)
        var rules = try recorded.matchRules().adding(settings.matchTexts)
        rules.custom = settings.customMatches
        let redactor = try recorded.redactionRules().map { LiveRedactor(Redactor(rules: $0)) }
        let session = try CassetteSession(
            mode: mode, cassette: recorded, rules: rules, repetition: settings.repetition, order: settings.order, redaction: redactor,
            audience: .program)
        self.path = path
        self.mode = mode
        self.settings = settings
        self.recorded = recorded
        self.decider = RequestDecider(session, redacts: redactor != nil, movesDates: false)
        self.player = ReplayPlayer(AnswerLibrary(recorded, refresh: nil), session: session, latency: settings.latency)
    }

    /// What came of it so far, exchange by exchange.
    public var report: ReplayReport { self.decider.session.report(name: self.path, cassette: self.recorded) }

    /// What was decided so far.
    public var verdict: Verdict { self.decider.session.verdict() }

    /// Nil while requests are taken.
    var closedFailure: TransportFailure? {
        guard self.isClosed.withLock({ $0 }) else { return nil }
        let problem = "the cassette \"\(self.path)\" is closed: wait for the requests of a test before it ends."
        return TransportFailure(.unserved(UnservedAnswer(index: nil, problem: problem)), problem)
    }
}
