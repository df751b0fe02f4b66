/// The outcome of a session so far, for the summary and the exit code of a run.
public struct Verdict: Sendable, Hashable {
    /// Requests answered from the cassette. Includes repetitions, but not answers that could not be sent.
    public var hits: Int
    /// How many of these requests were answered again by a used-up exchange.
    public var repeatedHits: Int
    /// Requests forwarded to their origin, including those still waiting for a connection.
    public var forwarded: Int
    /// How many of these requests were not recorded because a person had paused the recording.
    public var unrecorded = 0
    /// Requests that were to be forwarded, but for which no connection to the origin could be made.
    public var unreached: Int
    /// Requests that traffic rules answered or ended, so that the cassette was not asked.
    public var answeredByRules = 0
    /// Requests refused because no exchange was left. Requests refused only because of their order are not counted.
    public var misses: Int
    /// The reports of the first `CassetteSession.reportLimit` misses.
    public var reports: [MissReport]
    /// Recorded exchanges that answered nothing, ascending; empty in modes without replay.
    public var unused: [Int]
    /// Requests that came before or after their turn.
    public var orderViolations: Int
    /// The first `CassetteSession.reportLimit` order violations.
    public var violations: [OrderViolation]
    /// Answers that were chosen but could not be sent, and requests for which none could be chosen because the cassette is unreadable.
    public var unserved: Int
    /// The first `CassetteSession.reportLimit` unserved answers.
    public var unservedAnswers: [UnservedAnswer]
    /// Conversations whose clients left before they had sent all the messages of the recorded client.
    public var unsent: Int
    /// The first `CassetteSession.reportLimit` such conversations.
    public var unsentMessages: [UnsentMessages]
    /// Requests whose answers were computed from the recording, as they were not recorded in that form.
    public var computed: Int
    /// The first `CassetteSession.reportLimit` of these requests, each with how its answer was computed.
    public var computedAnswers: [String]
    /// The damage to the cassette; nil if it is intact, or if the run repaired it.
    public var damage: String?

    /// Misses that are not in the list of reports because it was full.
    public var unreportedMisses: Int { self.misses - self.reports.count }

    mutating func note(computed text: String) {
        self.computed += 1
        if self.computedAnswers.count < CassetteSession.reportLimit { self.computedAnswers.append(text) }
    }

    /// Whether no request arrived at all, although the cassette could have answered some. Usually the program did not use the proxy.
    public var isUnasked: Bool { self.answeredByRules == 0 && self.leavesCassetteUnasked }

    /// Whether traffic rules answered all requests, although the cassette could have answered some.
    public var isAnsweredByRulesAlone: Bool { self.answeredByRules > 0 && self.leavesCassetteUnasked }

    private var leavesCassetteUnasked: Bool {
        self.hits == 0 && self.computed == 0 && self.forwarded == 0 && self.unreached == 0 && self.misses == 0 && self.orderViolations == 0
            && self.unserved == 0 && !self.unused.isEmpty
    }

    /// The reasons why the replay is not clean. Empty if every request got its recorded answer and no exchange was left over.
    public var flaws: [VerdictFlaw] {
        VerdictFlaw.allCases.filter { self.count(of: $0) > 0 }
    }

    public func count(of flaw: VerdictFlaw) -> Int {
        switch flaw {
        case .miss: self.misses
        case .unused: self.unused.count + self.unsent
        case .order: self.orderViolations
        case .unserved: self.unserved
        case .damage: self.damage == nil ? 0 : 1
        case .unasked: self.isUnasked ? 1 : 0
        }
    }

    public init(
        hits: Int = 0, repeatedHits: Int = 0, forwarded: Int = 0, misses: Int = 0, reports: [MissReport] = [], unused: [Int] = [],
        orderViolations: Int = 0, violations: [OrderViolation] = [], unserved: Int = 0, unservedAnswers: [UnservedAnswer] = [],
        unsent: Int = 0, unsentMessages: [UnsentMessages] = [], computed: Int = 0, computedAnswers: [String] = [], damage: String? = nil,
        unreached: Int = 0
    ) {
        self.unreached = unreached
        self.computed = computed
        self.computedAnswers = computedAnswers
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
        self.unsent = unsent
        self.unsentMessages = unsentMessages
        self.damage = damage
    }
}

/// A reason why a replay is not clean.
public enum VerdictFlaw: String, Sendable, Hashable, CaseIterable {
    /// A request was refused because no exchange was left to answer it.
    case miss
    /// A recorded exchange was not used, or messages of its client were not sent.
    case unused
    /// A request came before or after its turn.
    case order
    /// A recorded answer could not be sent.
    case unserved
    /// A part of the cassette is damaged, so its content cannot answer.
    case damage
    /// No request arrived at all, although the cassette could have answered some.
    case unasked
}

/// A request that came before or after its turn.
public struct OrderViolation: Sendable, Hashable, CustomStringConvertible {
    /// The exchange that would answer it, or has answered it, in order of request start from 0.
    public var index: Int
    /// Its method and URL as plain text.
    public var request: String
    /// With strict order, the exchange that was due; otherwise the later one that had answered before.
    public var other: Int
    public var otherRequest: String
    /// Whether the request was refused, as it is with strict order.
    public var isRefused: Bool

    public init(index: Int, request: String, other: Int, otherRequest: String, isRefused: Bool) {
        self.index = index
        self.request = request
        self.other = other
        self.otherRequest = otherRequest
        self.isRefused = isRefused
    }

    /// One line.
    public var description: String {
        let other = "exchange \(self.other + 1), \"\(self.otherRequest)\""
        return self.isRefused
            ? "exchange \(self.index + 1), \"\(self.request)\", was requested while \(other), was due"
            : "exchange \(self.index + 1), \"\(self.request)\", answered after \(other)"
    }
}

/// A recorded answer that could not be sent, or not as it was recorded.
public struct UnservedAnswer: Sendable, Hashable, CustomStringConvertible {
    /// The exchange, in order of request start from 0; nil if the cassette could not be read to choose one.
    public var index: Int?
    /// The reason, with the file and the next step.
    public var problem: String

    public init(index: Int?, problem: String) {
        self.index = index
        self.problem = problem
    }

    public var description: String {
        guard let index else { return "no exchange could be chosen: \(self.problem)" }
        return "exchange \(index + 1) could not be replayed: \(self.problem)"
    }
}

/// A conversation that was replayed only in part, because its client left before it had sent all recorded messages.
public struct UnsentMessages: Sendable, Hashable, CustomStringConvertible {
    /// The exchange, in order of request start from 0.
    public var index: Int
    /// Its method and URL as plain text.
    public var request: String
    public var sent: Int
    public var recorded: Int

    public init(index: Int, request: String, sent: Int, recorded: Int) {
        self.index = index
        self.request = request
        self.sent = sent
        self.recorded = recorded
    }

    /// One line.
    public var description: String {
        "exchange \(self.index + 1), \"\(self.request)\": the client left after \(RequestDifference.messages(self.sent)), the recorded one sent \(self.recorded)"
    }
}
