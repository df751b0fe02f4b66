public import CassetteModel
public import CassettePlayback
public import CassetteStore
public import TapeBytes
public import TapeRecorder

/// A cassette that is open for one run: the session that decides over its requests, and the recorder that takes what is forwarded.
///
/// The one place where a plan becomes redactor, recorder and session: for the command line, the sessions of a server and the client in a
/// test. Carries no request.
public struct OpenCassette: Sendable {
    public let plan: RunPlan
    public let session: CassetteSession
    /// Nil if nothing is recorded.
    public let recorder: Recorder?

    /// Settles the plan of a run and begins it.
    ///
    /// - Parameter version: of the program that records, for the head of the cassette.
    ///
    /// Throws `RunPlan.Expired`, `CassetteError` and `MatchRuleError`.
    public init(_ path: String, mode: RecordMode, options: RunPlan.Options = RunPlan.Options(), version: String) throws {
        try self.init(RunPlan(path, mode: mode, options: options), version: version)
    }

    /// Creates the file to be recorded, or locks and repairs the one that goes on.
    ///
    /// - Parameters:
    ///   - version: of the program that records, for the head of the cassette.
    ///   - digest: makes a SHA-256.
    ///   - refusesUnrecorded: no exchange is answered that cannot be recorded.
    ///   - notify: takes what people should know at once, as a full disk; called on the recorder's thread.
    public init(
        _ plan: RunPlan, version: String, digest: @escaping @Sendable () -> any ContentDigest = { PortableSHA256() },
        refusesUnrecorded: Bool = false, notify: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(CassetteError) {
        self.plan = plan
        // The session first: it creates no file that would be left if the other failed.
        self.session = try CassetteSession(
            mode: plan.recording.mode, cassette: plan.cassette, rules: plan.rules, repetition: plan.options.repetition,
            order: plan.options.order, conversationOrder: plan.options.conversationOrder, ranges: plan.options.ranges,
            redaction: plan.liveRedactor,
            dates: plan.refresh?.liveDates, audience: plan.options.audience, digest: digest)
        self.recorder = try Recorder(
            plan.recording, version: version, redaction: plan.redaction, digest: digest, refusesUnrecorded: refusesUnrecorded,
            notify: notify)
    }

    /// What is replayed; nil if nothing is.
    public var cassette: RecordedCassette? { self.plan.cassette }

    /// What people should know before the first request, of the plan and of a file that was repaired.
    public var notices: [String] {
        self.plan.notices + [self.recorder?.repaired.map { $0.summary + "." }].compactMap { $0 } + (self.recorder?.recovered ?? [])
    }

    /// Ends the run and puts its recording in order: see `Recorder.close`.
    ///
    /// - Parameter keepsOld: leaves a cassette that the recording would replace, the recording beside it.
    /// - Returns: the path of the recording; nil if nothing was recorded.
    @discardableResult
    public func close(keepsOld: Bool = false) throws(CassetteError) -> String? { try self.recorder?.close(keepsOld: keepsOld) }

    /// Instead of `close` after a failed start: removes a cassette that was created for the run and is still empty.
    public func abandon() throws(CassetteError) { try self.recorder?.abandon() }
}
