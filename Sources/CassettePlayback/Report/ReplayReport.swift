public import TapeBytes
internal import CassetteModel
public import CassetteStore

/// What came of a replay, exchange by exchange: the source of its text, its JSON and its JUnit XML.
///
/// All strings in it are plain text, escaped and short. Writes no files.
public struct ReplayReport: Sendable, Hashable {
    /// A recorded exchange.
    public struct Exchange: Sendable, Hashable {
        /// Its id in the cassette's file.
        public var id: Int
        /// Method and URL as plain text.
        public var request: String
        /// How often it has answered; nil for a tunnel that did not come about, which answers nothing.
        public var answers: Int?
        /// When it began, of one that was not used: whoever prunes by the report knows by it that it is the same exchange.
        public var started: Timestamp?

        public init(id: Int, request: String, answers: Int?, started: Timestamp? = nil) {
            self.started = started
            self.id = id
            self.request = request
            self.answers = answers
        }
    }

    /// The version of the JSON.
    public static let version = 1

    /// The cassette's path or name, as it is to be shown.
    public var cassette: String
    public var mode: RecordMode
    public var repetition: Repetition
    public var order: ReplayOrder
    public var verdict: Verdict
    /// In order of request start: the index of an exchange is its place in this.
    public var exchanges: [Exchange]

    public init(
        cassette: String, mode: RecordMode, repetition: Repetition = .never, order: ReplayOrder = .any, verdict: Verdict,
        exchanges: [Exchange]
    ) {
        self.cassette = cassette
        self.mode = mode
        self.repetition = repetition
        self.order = order
        self.verdict = verdict
        self.exchanges = exchanges
    }
}

extension ReplayReport {
    /// For people: what went wrong, each with its next step, and one line of numbers at the end. No line ends.
    public var lines: [String] { ReplayReportText.lines(self) }

    /// For people: what went wrong of some kinds, each with its next step. A miss has several lines in its one string.
    public func flawLines(naming flaws: Set<VerdictFlaw>) -> [String] { ReplayReportText.flawLines(self, naming: flaws) }

    /// For people: one line of numbers without a full stop.
    public var numbers: String { ReplayReportText.numbers(self) }

    /// As docs/replay-report.md says, in UTF-8.
    public var json: [UInt8] { ReplayReportJSON.bytes(self) }

    /// For continuous integration, in UTF-8: a test case for each exchange and for each thing that went wrong.
    ///
    /// - Parameter failOn: what is a failure; other flaws are told as skipped.
    public func junit(failOn: Set<VerdictFlaw> = Set(VerdictFlaw.allCases)) -> [UInt8] {
        ReplayReportJUnit.bytes(self, failOn: failOn)
    }
}
