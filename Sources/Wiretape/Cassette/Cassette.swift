public import CassetteModel
public import CassettePlayback
internal import CassetteRedaction
internal import CassetteRun
public import CassetteStore
internal import Dispatch
public import Foundation
public import TapeBytes
internal import TapeRecorder

/// An open cassette: replays from its file, records into it, and reports what was requested.
///
/// Use one for each test or run; instances share nothing. The file has the same format as the proxy's. Close it when all requests have
/// ended: the recording is then sorted and moved into place.
public final class Cassette: Sendable {
    /// The cassette of the current task, which sessions without a transport of their own use. If there is none, such a session uses the
    /// cassette of the task that created it, as long as no other test with a cassette has run since. If there is none either, it uses the
    /// network, unless a test is using a cassette.
    @TaskLocal public static var current: Cassette?

    public let path: String
    /// As given to `init`; the one in effect is in `report`.
    public let mode: RecordMode
    public let settings: Cassette.Settings
    /// Nil if no rules change the traffic.
    let rules: ClientRules?
    /// Nil if nothing is recorded.
    let recording: CassetteRecording?
    let decider: RequestDecider
    /// Nil if nothing is replayed.
    let player: ReplayPlayer?
    let sockets = OpenSockets()
    /// The recording that is replayed; nil if nothing is replayed.
    let recorded: RecordedCassette?
    private let state = Guarded(State())
    /// Entered by the caller that closes the cassette; other callers wait for the outcome. Code that runs until then must not close the
    /// cassette. No lock is held while the disk works.
    private let closing = DispatchGroup()

    private struct State: Sendable {
        var isClosed = false
        var isReached = false
        var outcome: Result<Cassette.Outcome, CassetteError>?
    }

    /// Opens a cassette, or creates it and its folders if the mode records.
    ///
    /// - Parameter now: the date to which recorded dates are moved, if the settings refresh them.
    ///
    /// Throws `CassetteError` for a file that does not exist, cannot be read, or is being written by another recorder, and
    /// `MatchRuleError` or `SettingSyntaxError` for invalid settings.
    public init(
        _ path: String, mode: RecordMode = .none, settings: Cassette.Settings = Cassette.Settings(), now: Date = Date()
    ) throws {
        let exists = CassettePlace.exists(path, for: mode)
        guard exists || mode != .none else {
            throw CassetteError(.notFound, "there is no cassette \"\(path)\": open it with mode .once to record it.")
        }
        let plan = try RunPlan(path, mode: mode, options: settings.planOptions, now: Timestamp(now))
        if plan.recording.target == .create { try Self.makeFolder(of: path) }
        self.rules = try ClientRules(
            settings.modify, seed: settings.seed, match: plan.rules.drawing(redacted: settings.redact), verdict: settings.verdict,
            cassette: path)
        let open = try OpenCassette(plan, version: Version.current)
        self.recording = open.recorder.map { CassetteRecording($0, path: path) }
        self.path = path
        self.mode = mode
        self.settings = settings
        self.recorded = plan.cassette
        self.decider = RequestDecider(open.session)
        self.player = plan.cassette.map {
            ReplayPlayer(AnswerLibrary($0, refresh: plan.refresh), session: open.session, latency: settings.latency)
        }
    }

    /// `init` for async code: reads the file on a separate thread, because tasks share only as many threads as there are cores.
    ///
    /// Throws the same errors as `init`.
    public static func open(
        _ path: String, mode: RecordMode = .none, settings: Cassette.Settings = Cassette.Settings(), now: Date = Date()
    ) async throws -> Cassette {
        try await BlockingWork.run { Result { try Cassette(path, mode: mode, settings: settings, now: now) } }.get()
    }

    private static func makeFolder(of path: String) throws(CassetteError) {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            throw CassetteError(
                .unwritable,
                "the folder \"\(folder.path)\" cannot be created (\(error.localizedDescription)): choose another path for the cassette.",
                cause: error)
        }
    }

    deinit {
        // A cassette that was never closed keeps its recording, next to an older one.
        if !self.state.withLock({ $0.isClosed }) { _ = try? self.recording?.close(keepsOld: true) }
    }

    /// The replayed, recorded and refused requests so far, exchange by exchange.
    public var report: ReplayReport {
        var report = self.decider.session.report(name: self.path, cassette: self.recorded)
        report.checks = self.rules?.checks(hasEnded: !self.isOpen) ?? []
        return report
    }

    /// What is wrong with the traffic rules, in lines: a rule matched no request, or could not be carried out.
    package var ruleProblems: [String] { self.rules?.problems ?? [] }

    /// The same for rules of suites, whose tests need not all make requests that match.
    package var ruleWarnings: [String] { self.rules?.warnings ?? [] }

    /// What the client did wrong with answers that failed, if `Settings.verdict` asks for it. That no request came again is among it once
    /// the cassette is closed, or after a minute.
    public var clientFindings: [ClientFinding] { self.clientFindings(hasEnded: !self.isOpen) }

    /// - Parameter hasEnded: the test has ended, so that no more attempts come.
    package func clientFindings(hasEnded: Bool) -> [ClientFinding] {
        (self.rules?.findings(hasEnded: hasEnded) ?? []).map { ClientFinding($0) }
    }

    /// The result so far.
    public var verdict: Verdict { self.decider.session.verdict() }

    /// How many exchanges the recorder has written so far.
    public var recordedCount: Int { self.recording?.recordedCount ?? 0 }

    /// The transport for the mode: a `ReplayTransport` for `.none`, otherwise a `RecordingTransport` around `LiveTransport.shared`, which
    /// evaluates trust as the platform does. `HTTPSession(cassette:configuration:)` records around the transport of the configuration.
    public var transport: any Transport { self.transport(around: .shared) }

    /// - Parameters:
    ///   - clock: measures the times of traffic rules.
    ///   - owner: of the clock. Transports of one owner share its time.
    func transport(
        around network: @autoclosure () -> LiveTransport, clock: any Clock<Duration> = ContinuousClock(), owner: ClockOwner = ClockOwner()
    ) -> any Transport {
        let transport: any Transport =
            if case .none = self.mode {
                ReplayTransport(self)
            } else {
                RecordingTransport(self, around: self.rules == nil ? network() : ForwardingTransport(next: network()))
            }
        return self.before(transport, clock: clock, owner: owner)
    }

    /// Puts the cassette's stubs and traffic rules before a transport.
    func before(
        _ transport: any Transport, clock: any Clock<Duration> = ContinuousClock(), owner: ClockOwner = ClockOwner()
    ) -> any Transport {
        let ruled =
            self.rules.map { RuledTransport($0, before: transport, of: self, clock: clock, owner: owner) as any Transport } ?? transport
        return self.settings.stubs.isEmpty ? ruled : StubbedTransport(self.settings.stubs, before: ruled, of: self)
    }

    // MARK: Closing

    /// Writes the remaining exchanges, sorts them, and replaces an older cassette with the recording. Waits for the disk. Exchanges that
    /// have not ended are recorded as cut. Closing again returns the same outcome. Requests fail from then on.
    ///
    /// - Parameter keepingOld: keeps an older cassette and puts the recording next to it, as after a failed test.
    ///
    /// Throws `CassetteError`. If a secret that should have been redacted is still in the recording, the code is `secretsLeft`, the error
    /// names the places, and an older cassette is kept.
    @discardableResult
    public func close(keepingOld: Bool = false) throws(CassetteError) -> Cassette.Outcome {
        try self.end { () throws(CassetteError) -> Cassette.Outcome in
            let file = try self.recording?.close(keepsOld: keepingOld)
            return Cassette.Outcome(
                path: file, recorded: self.recordedCount, lost: self.recording?.lostCount ?? 0, report: self.report,
                failOn: self.settings.failOn, problems: self.ruleProblems + self.clientFindings.map(\.line))
        }
    }

    /// `close` for async code: waits for the disk on a separate thread, because tasks share only as many threads as there are cores.
    ///
    /// Throws `CassetteError`, as `close` does.
    @discardableResult
    public func finish(keepingOld: Bool = false) async throws(CassetteError) -> Cassette.Outcome {
        try await BlockingWork.run { Result { () throws(CassetteError) in try self.close(keepingOld: keepingOld) } }.get()
    }

    /// Closes the cassette without keeping the recording: what was recorded since it was opened is deleted, except exchanges that were
    /// added to an older cassette.
    public func abandon() throws(CassetteError) {
        _ = try self.end { () throws(CassetteError) -> Cassette.Outcome in
            try self.recording?.abandon()
            return Cassette.Outcome(path: nil, recorded: 0, lost: 0, report: self.report, failOn: self.settings.failOn)
        }
    }

    private func end(_ body: () throws(CassetteError) -> Cassette.Outcome) throws(CassetteError) -> Cassette.Outcome {
        let isFirst = self.state.withLock { state in
            guard !state.isClosed else { return false }
            state.isClosed = true
            self.closing.enter()
            return true
        }
        guard isFirst else {
            self.closing.wait()
            guard let outcome = self.state.withLock({ $0.outcome }) else {
                return Cassette.Outcome(path: nil, recorded: 0, lost: 0, report: self.report, failOn: self.settings.failOn)
            }
            return try outcome.get()
        }
        defer { self.closing.leave() }
        self.sockets.cancelAll()
        let outcome: Result<Cassette.Outcome, CassetteError>
        do throws(CassetteError) {
            outcome = .success(try body())
        } catch {
            outcome = .failure(error)
        }
        self.state.withLock { $0.outcome = outcome }
        return try outcome.get()
    }

    var isOpen: Bool { !self.state.withLock { $0.isClosed } }

    /// Whether any request has arrived, whatever became of it. Requests that a stub answers count.
    package var isReached: Bool { self.state.withLock { $0.isReached } }

    /// Admits a request.
    ///
    /// - Returns: the failure that every request gets after closing; nil while the cassette is open.
    func admit() -> TransportFailure? {
        let isClosed = self.state.withLock { state in
            state.isReached = true
            return state.isClosed
        }
        guard isClosed else { return nil }
        let problem = "the cassette \"\(self.path)\" is closed: wait until all requests have ended before closing it."
        return TransportFailure(.unserved(UnservedAnswer(index: nil, problem: problem)), problem)
    }
}

extension Cassette {
    /// The result of closing a cassette.
    public struct Outcome: Sendable, Hashable {
        /// The file that was recorded; nil if nothing was recorded.
        public var path: String?
        /// Exchanges recorded.
        public var recorded: Int
        /// Exchanges that could not be written.
        public var lost: Int
        public var report: ReplayReport
        /// The failures that `Settings.failOn` asks for, each with its next step.
        public var failures: [String]

        init(path: String?, recorded: Int, lost: Int, report: ReplayReport, failOn: Set<VerdictFlaw>, problems: [String] = []) {
            self.path = path
            self.recorded = recorded
            self.lost = lost
            self.report = report
            var flaws = failOn.union([.unserved])
            // A request that was refused by strict order counts as a miss.
            if report.order == .strict, failOn.contains(.miss) { flaws.insert(.order) }
            self.failures = report.flawLines(naming: flaws) + problems
            if lost > 0 {
                self.failures.append(
                    "\(lost) recorded \(lost == 1 ? "exchange" : "exchanges") could not be written: free disk space and record again")
            }
        }
    }

    /// How requests are matched, how responses are replayed, and what is redacted in recordings.
    ///
    /// Combined with the cassette's own settings: `match` replaces its list, the others add to it. The strings have the syntax of the
    /// command line and of `wiretape.yaml`; errors in them are thrown when the cassette is opened.
    public struct Settings: Sendable {
        /// Match rules such as `method`, `url`, `header:accept` and `body:json`; nil for the cassette's own, or else the default ones.
        public var match: [String]?
        /// Places that are not compared, such as `query:ts` or `json:/id`.
        public var ignore: [String] = []
        /// Patterns that a place has to match, such as `json:/id=[0-9]+`.
        public var patterns: [String] = []
        /// Values that are rewritten on both sides before they are compared, as `json:/prompt=/[0-9]{4}-[0-9]{2}-[0-9]{2}/DATE/`.
        public var replace: [String] = []
        /// Arrays in JSON whose order is not compared, such as `json:/tools`.
        public var sort: [String] = []
        /// Values that may be missing on either side, such as `json:/metadata`.
        public var optional: [String] = []
        /// Rules for kinds of APIs, before those above.
        public var presets: [RulePreset] = []
        /// Called last, for requests that match by all other rules.
        public var customMatches: [CustomMatch] = []

        /// False leaves secrets in recordings; `redact`, `keep` and `secrets` must then be empty.
        public var redaction = true
        /// Places of secrets in addition to the known ones, such as `header:x-token` or `json:/pin`.
        public var redact: [String] = []
        /// Places and kinds that are not redacted. `jwt:CLAIM` keeps a claim of tokens, `shape:uuid` replaces UUIDs with placeholders
        /// that are UUIDs, and `shape:length` makes placeholders as long as the secrets.
        public var keep: [String] = []
        /// Values that are secrets wherever they occur, keyed by the name of their placeholder.
        public var secrets: [String: String] = [:]

        /// The response to a request whose recorded exchanges are all used.
        public var repetition: Repetition = .never
        public var order: ReplayOrder = .any
        /// Whether a WebSocket's client has to send its messages in the recorded order. Use `any` if several tasks send at once.
        public var conversation: ConversationOrder = .strict
        /// Whether ranges that were not recorded are computed from a whole recorded body, or from recorded parts of it.
        public var ranges: RangeReplay = .computed
        /// How long a replayed response takes, by the transport's clock.
        public var latency: Latency = .none
        /// Whether dates in replayed header fields are moved, so that they are as old as when they were recorded.
        public var refreshDates = false
        /// Dates in JSON bodies that are moved too, such as `json:/expires`.
        public var refreshFields: [String] = []

        /// Rules that answer requests without recording or replaying them; the first rule that matches is used. Such requests are not in
        /// the report.
        public var stubs: [StubTransport.Rule] = []
        /// Rules that change the traffic, in their order: docs/traffic-rules.md. Stubs come before them.
        ///
        /// Latencies use the clock of the session that makes the request.
        public var modify: [TrafficModification] = []
        /// Judges what the client does with answers that fail; nil does not. Findings are among the failures of the outcome.
        public var verdict: VerdictRule?
        /// What the draws of these rules depend on, apart from the rule and the request.
        public var seed: UInt64 = 0

        /// The audience of the next step that the report of a miss suggests.
        package var audience = MissReport.Audience.program

        /// The test that records, such as "ShopTests.Pets/upload()". It is named in the head of a new cassette.
        package var test: String?

        /// The flaws that `Outcome.failures` reports, besides responses that could not be replayed.
        public var failOn: Set<VerdictFlaw> = [.miss]

        public init() {}
    }
}

extension Cassette.Settings {
    /// The options for a run inside a test process.
    var planOptions: RunPlan.Options {
        get throws {
            var options = RunPlan.Options()
            options.matchTexts = self.presets.reduce(MatchRuleTexts()) { $0.adding($1.rules) }.adding(
                MatchRuleTexts(
                    match: self.match, ignore: self.ignore, patterns: self.patterns, replace: self.replace, sort: self.sort,
                    optional: self.optional))
            options.customMatches = self.customMatches
            options.redaction = try self.redactionRules
            options.repetition = self.repetition
            options.order = self.order
            options.conversationOrder = self.conversation
            options.ranges = self.ranges
            options.refreshedFields = self.refreshDates ? self.refreshFields : nil
            options.audience = self.audience
            if let test = self.test { options.headMembers = [try Self.headMember(ofTest: test)] }
            return options
        }
    }

    /// The member of a cassette's head with the name of the test that recorded it.
    package static let testMember = "test"

    private static func headMember(ofTest test: String) throws -> UnknownMember {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return UnknownMember(name: self.testMember, json: Array(try encoder.encode(test)))
    }

    /// Nil if secrets are kept.
    private var redactionRules: RedactionRules? {
        get throws(SettingSyntaxError) {
            guard self.redaction else {
                guard self.redact.isEmpty, self.keep.isEmpty, self.secrets.isEmpty else {
                    throw SettingSyntaxError(
                        "\"redaction\" is false, but redact, keep or secrets is set: set redaction to true, or leave the others empty")
                }
                return nil
            }
            let values = self.secrets.sorted { $0.key < $1.key }.map { SecretValue(name: $0.key, bytes: Array($0.value.utf8)) }
            return try RedactionRules(rules: self.redact, keep: self.keep, secrets: values.filter { !$0.bytes.isEmpty })
        }
    }
}
