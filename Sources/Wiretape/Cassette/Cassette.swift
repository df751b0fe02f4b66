public import CassetteModel
public import CassettePlayback
public import CassetteStore
public import Foundation
internal import TapeBytes
internal import TapeRecorder

/// A cassette in use: what is replayed from it, what is recorded into it, and what was asked of it.
///
/// One for each test or run; it shares nothing with others. The file is the one that the proxy reads and writes. Close it when no request
/// is on its way any more: what was recorded gets its place and its order then.
public final class Cassette: Sendable {
    /// The cassette of the task: sessions without a transport of their own take it, and the network where there is none.
    @TaskLocal public static var current: Cassette?

    public let path: String
    /// As it was asked for; what holds is in `report`.
    public let mode: RecordMode
    public let settings: CassetteSettings
    /// Nil where nothing is recorded.
    let recording: CassetteRecording?
    let decider: RequestDecider
    /// Nil where nothing is replayed.
    let player: ReplayPlayer?
    private let recorded: RecordedCassette?
    private let state = Guarded(State())
    /// Held while the cassette is closed, so that whoever closes it too waits for what comes of it. Nothing under it closes a cassette.
    private let closing = Guarded(())

    private struct State: Sendable {
        var isClosed = false
        var outcome: Result<CassetteOutcome, CassetteError>?
    }

    /// Opens a cassette, or makes one where the mode wants it, with the folders on the way to it.
    ///
    /// - Parameter now: from which dates move, where the settings say that they do.
    ///
    /// Throws `CassetteError` for a file that is not there, cannot be read, or is written by another recorder, and `MatchRuleError`,
    /// `RedactionRuleError` or `RefreshRuleError` for settings that are none.
    public init(
        _ path: String, mode: RecordMode = .none, settings: CassetteSettings = CassetteSettings(), now: Date = Date()
    ) throws {
        let exists = CassettePlace.exists(path)
        guard exists || mode != .none else {
            throw CassetteError(.notFound, "there is no cassette \"\(path)\": open it with mode .once to record it.")
        }
        let target = try RecordingPlan(path: path, mode: mode, exists: exists)
        let recorded = target.replays ? try RecordedCassette(path: path) : nil
        let plan = try CassettePlan(target, cassette: recorded, matchTexts: settings.matchTexts)
        var rules = plan.rules
        rules.custom = settings.customMatches
        let redaction = try settings.redactionRules(replacing: plan.replacedRedaction)
        let redactor = try plan.liveRedactor(adding: redaction)
        let refresh = try settings.dateRefresh(of: recorded, now: Timestamp(now))
        let session = try CassetteSession(
            mode: mode, cassette: recorded, rules: rules, repetition: settings.repetition, order: settings.order, redaction: redactor,
            dates: refresh?.liveDates, audience: .program)
        if plan.recording.target == .create { try Self.makeFolder(of: path) }
        self.recording = try Recorder(plan.recording, version: Version.current, redaction: redaction).map {
            CassetteRecording($0, path: path)
        }
        self.path = path
        self.mode = mode
        self.settings = settings
        self.recorded = recorded
        self.decider = RequestDecider(session, redacts: redactor != nil, movesDates: refresh != nil)
        self.player = recorded.map {
            ReplayPlayer(AnswerLibrary($0, refresh: refresh), session: session, latency: settings.latency)
        }
    }

    private static func makeFolder(of path: String) throws(CassetteError) {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            throw CassetteError(
                .unwritable, "the folder \"\(folder.path)\" cannot be made (\(error.localizedDescription)): name a cassette elsewhere.")
        }
    }

    deinit {
        // Who forgets to close has his recording all the same, beside an old one.
        if !self.state.withLock({ $0.isClosed }) { _ = try? self.recording?.close(keepsOld: true) }
    }

    /// What came of it so far, exchange by exchange.
    public var report: ReplayReport { self.decider.session.report(name: self.path, cassette: self.recorded) }

    /// What was decided so far.
    public var verdict: Verdict { self.decider.session.verdict() }

    /// How many exchanges were recorded so far, and waited for no more.
    public var recordedCount: Int { self.recording?.recordedCount ?? 0 }

    /// The transport that the mode asks for: replay alone in `.none`, else recording around `LiveTransport.shared`, which has no trust but
    /// the platform's. `Session(cassette:configuration:)` records around what the configuration wants.
    public var transport: any Transport { self.transport(around: .shared) }

    func transport(around network: @autoclosure () -> LiveTransport) -> any Transport {
        if case .none = self.mode { ReplayTransport(self) } else { RecordingTransport(self, around: network()) }
    }

    // MARK: Closing

    /// Writes what is left, puts the exchanges in order, and the recording into the place of an older one. Waits for the disk. Exchanges
    /// that are still on their way are recorded as cut. Once it is closed, closing again gives the same outcome, and requests fail.
    ///
    /// - Parameter keepingOld: leaves an older cassette in its place, the recording beside it, as after a test that failed.
    ///
    /// Throws `CassetteError`: with the code `secretsLeft` where something that was to be taken out is still in the recording, naming the
    /// places; an older cassette then keeps its place.
    @discardableResult
    public func close(keepingOld: Bool = false) throws(CassetteError) -> CassetteOutcome {
        try self.end { () throws(CassetteError) -> CassetteOutcome in
            let file = try self.recording?.close(keepsOld: keepingOld)
            return CassetteOutcome(
                path: file, recorded: self.recordedCount, lost: self.recording?.lostCount ?? 0, report: self.report,
                failOn: self.settings.failOn)
        }
    }

    /// In place of `close`, where the recording is not wanted: what was recorded since the cassette was opened goes away, but for
    /// exchanges that were added to an older cassette.
    public func abandon() throws(CassetteError) {
        _ = try self.end { () throws(CassetteError) -> CassetteOutcome in
            try self.recording?.abandon()
            return CassetteOutcome(path: nil, recorded: 0, lost: 0, report: self.report, failOn: self.settings.failOn)
        }
    }

    private func end(_ body: () throws(CassetteError) -> CassetteOutcome) throws(CassetteError) -> CassetteOutcome {
        let outcome = self.closing.withLock { _ in
            Result { () throws(CassetteError) in try self.endOnce(body) }
        }
        return try outcome.get()
    }

    private func endOnce(_ body: () throws(CassetteError) -> CassetteOutcome) throws(CassetteError) -> CassetteOutcome {
        let isFirst = self.state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        guard isFirst else {
            guard let outcome = self.state.withLock({ $0.outcome }) else {
                return CassetteOutcome(path: nil, recorded: 0, lost: 0, report: self.report, failOn: self.settings.failOn)
            }
            return try outcome.get()
        }
        let outcome: Result<CassetteOutcome, CassetteError>
        do throws(CassetteError) {
            outcome = .success(try body())
        } catch {
            outcome = .failure(error)
        }
        self.state.withLock { $0.outcome = outcome }
        return try outcome.get()
    }

    /// Nil while requests are taken.
    var closedFailure: TransportFailure? {
        guard self.state.withLock({ $0.isClosed }) else { return nil }
        let problem = "the cassette \"\(self.path)\" is closed: wait for the requests of a test before it ends."
        return TransportFailure(.unserved(UnservedAnswer(index: nil, problem: problem)), problem)
    }
}
