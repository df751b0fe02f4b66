public import CassetteModel
public import CassettePlayback
public import CassetteStore
public import TapeBytes
public import TapeRecorder

/// A cassette that is open for one run, with the session that decides on its requests, and the recorder for forwarded exchanges.
///
/// The one place where a plan becomes a redactor, recorder and session: for the command line, the sessions of a server, and the client in a
/// test. Does not transport requests.
public struct OpenCassette: Sendable {
    public let plan: RunPlan
    public let session: CassetteSession
    /// Nil if nothing is recorded.
    public let recorder: Recorder?

    /// Determines the plan of a run and starts it.
    ///
    /// - Parameter version: the version of the recording program, for the head of the cassette.
    ///
    /// Throws `RunPlan.Expired`, `CassetteError` and `MatchRuleError`.
    public init(_ path: String, mode: RecordMode, options: RunPlan.Options = RunPlan.Options(), version: String) throws {
        try self.init(RunPlan(path, mode: mode, options: options), version: version)
    }

    /// Creates the file to be recorded, or locks and repairs the one that is continued.
    ///
    /// - Parameters:
    ///   - version: the version of the recording program, for the head of the cassette.
    ///   - digest: makes a SHA-256.
    ///   - refusesUnrecorded: whether exchanges that cannot be recorded are refused rather than answered.
    ///   - notify: receives messages that users should see at once, such as a full disk; called on the recorder's thread.
    public init(
        _ plan: RunPlan, version: String, digest: @escaping @Sendable () -> any ContentDigest = { PortableSHA256() },
        refusesUnrecorded: Bool = false, notify: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(CassetteError) {
        self.plan = plan
        // The session comes first, as it creates no file that would be left over if the other failed.
        self.session = try CassetteSession(
            mode: plan.recording.mode, cassette: plan.cassette, rules: plan.rules, repetition: plan.options.repetition,
            repeating: try Self.repeating(plan), order: plan.options.order, conversationOrder: plan.options.conversationOrder,
            ranges: plan.options.ranges,
            redaction: plan.liveRedactor,
            dates: plan.refresh?.liveDates, keepsLeft: plan.options.keepsLeft, audience: plan.options.audience, digest: digest)
        self.recorder = try Recorder(
            plan.recording, version: version, redaction: plan.redaction, digest: digest, refusesUnrecorded: refusesUnrecorded,
            notify: notify)
    }

    /// The exchanges that the plan lets answer any number of times, by index.
    private static func repeating(_ plan: RunPlan) throws(CassetteError) -> Set<Int> {
        guard let repeats = plan.options.repeats, let cassette = plan.cassette, plan.recording.mode.replays else { return [] }
        let reader = BodyReader(cassettePath: cassette.path)
        var found: Set<Int> = []
        for index in 0..<cassette.count {
            let interaction = try cassette.interaction(at: index)
            do {
                if try repeats(interaction, reader) { found.insert(index) }
            } catch let error as CassetteError {
                throw error
            } catch {
                throw CassetteError(.unreadable, "\"\(cassette.path)\", exchange \(index + 1): \(error)", cause: error)
            }
        }
        return found
    }

    /// The cassette that is replayed; nil if there is none.
    public var cassette: RecordedCassette? { self.plan.cassette }

    /// What users should know before the first request: notices of the plan and of a repaired file.
    public var notices: [String] {
        self.plan.notices + [self.recorder?.repaired.map { $0.summary + "." }].compactMap { $0 } + (self.recorder?.recovered ?? [])
    }

    /// Ends the run and finishes its recording: see `Recorder.close`.
    ///
    /// - Parameter keepsOld: keeps a cassette that the recording would replace, and leaves the recording next to it.
    /// - Returns: the path of the recording; nil if nothing was recorded.
    @discardableResult
    public func close(keepsOld: Bool = false) throws(CassetteError) -> String? { try self.recorder?.close(keepsOld: keepsOld) }

    /// Called instead of `close` after a failed start. Removes a cassette that was created for the run and is still empty.
    public func abandon() throws(CassetteError) { try self.recorder?.abandon() }
}
