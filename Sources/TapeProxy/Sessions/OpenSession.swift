internal import CassetteModel
internal import CassettePlayback
internal import CassetteRun
internal import CassetteStore
internal import LocalHTTP
internal import NIOCore
internal import TapeRecorder
internal import TrafficRules

/// One session of a server: its cassette, its recorder and the address that clients use.
///
/// Does not forward or decide anything: see `ProxyContext` and `CassetteSession`.
final class OpenSession: Sendable {
    /// The components of a session.
    struct Parts: Sendable {
        var name: SessionName
        /// The cassette's name in the server's folder.
        var cassetteName: String
        var label: String?
        /// The process that owns the session; nil if none does.
        var owner: ProcessIdentity?
        /// The settings of the order, applied over those of all sessions.
        var settings: RunSettings
        /// Messages for the client that ordered the session.
        var notices: [String]
        var cassette: OpenCassette
        var rules: RuleEngine
        var desk: PauseDesk
        /// nil if the session is not shown.
        var page: SessionPage?
    }

    let parts: Parts
    let token: Secret
    let common: SharedSession
    let contexts: PerLoop<ProxyContext>
    /// The listener of the session's own port; nil if it has none.
    let listener: (any Channel)?
    /// The session's own port. Read once, because a closed listener has no address.
    let port: Int?
    private let rules: SessionRulesSwitch?

    init(
        _ parts: Parts, token: Secret, common: SharedSession, contexts: PerLoop<ProxyContext>, listener: (any Channel)?
    ) {
        self.parts = parts
        self.token = token
        self.common = common
        self.contexts = contexts
        self.listener = listener
        self.port = listener?.localAddress?.port
        self.rules = common.rules.map { SessionRulesSwitch($0.engine) }
    }

    /// Replaces the traffic rules.
    func modify(_ modification: SessionModification, on loop: any EventLoop) { self.rules?.apply(modification, on: loop) }

    var name: SessionName { self.parts.name }
    var session: CassetteSession { self.parts.cassette.session }
    var recorder: Recorder? { self.parts.cassette.recorder }

    /// - Parameter isDetailed: adds a report on each exchange.
    func report(isDetailed: Bool = false) -> SessionReport {
        var report = SessionReport(
            name: self.name, cassette: self.parts.cassetteName, mode: self.session.mode, isOpen: true,
            recorded: self.parts.cassette.cassette?.answerableCount ?? 0,
            counts: self.common.totalCounts, verdict: self.session.verdict(),
            details: isDetailed ? self.session.report(name: self.parts.cassetteName, cassette: self.parts.cassette.cassette) : nil,
            recorder: self.recorder?.currentStatus, failOn: self.parts.settings.failOnInForce, expiry: self.parts.cassette.plan.expiry)
        report.label = self.parts.label
        report.rules = self.common.rules?.engine.report() ?? []
        report.clientVerdict = self.common.rules?.verdict(
            exitCode: nil, limits: self.parts.settings.value(Settings.verdict) ?? ClientVerdict.Limits())
        report.details?.checks = RuleLines.checks(report.rules, report.clientVerdict)
        return report
    }

    /// Closes the cassette and returns the final report. Call it when nothing is in flight any more. Waits for the disk.
    ///
    /// - Parameters:
    ///   - keepsOld: keeps a cassette that the recording would replace.
    ///   - searching: called ten times a second with the number of exchanges whose bodies are still being searched for secrets.
    func close(keepsOld: Bool, searching: (_ left: Int) -> Void = { _ in }) -> SessionReport {
        var file: String?
        var problem: String?
        do throws(CassetteError) {
            // The next run would replay an empty cassette and refuse every request.
            file = try self.recorder?.close(keepsOld: keepsOld, keepsEmpty: false, searching: searching)
            if let closed = file, !CassettePlace.exists(closed) { file = nil }
        } catch {
            problem = error.message
        }
        self.parts.page?.stop()
        var report = self.report(isDetailed: true)
        report.isOpen = false
        report.file = file
        report.problem = problem
        return report
    }
}
