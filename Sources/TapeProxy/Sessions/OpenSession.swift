internal import CassetteModel
internal import CassettePlayback
internal import CassetteRun
internal import NIOCore
internal import TapeRecorder

/// One session of a server: its cassette and recorder, and where clients reach it.
///
/// Sends and decides nothing: see `ProxyContext` and `CassetteSession`.
final class OpenSession: Sendable {
    /// What it is made of.
    struct Parts: Sendable {
        var name: SessionName
        /// The cassette's name in the server's folder.
        var cassetteName: String
        /// Those of the order, laid over those of all sessions.
        var settings: RunSettings
        /// What the client that ordered it should know.
        var notices: [String]
        var cassette: OpenCassette
    }

    let parts: Parts
    let token: Secret
    let common: SharedSession
    let contexts: PerLoop<ProxyContext>
    /// The listener of a port of its own.
    let listener: (any Channel)?

    init(
        _ parts: Parts, token: Secret, common: SharedSession, contexts: PerLoop<ProxyContext>, listener: (any Channel)?
    ) {
        self.parts = parts
        self.token = token
        self.common = common
        self.contexts = contexts
        self.listener = listener
    }

    var name: SessionName { self.parts.name }
    var session: CassetteSession { self.parts.cassette.session }
    var recorder: Recorder? { self.parts.cassette.recorder }

    /// The port of its own.
    var port: Int? { self.listener?.localAddress?.port }

    /// How it is doing.
    ///
    /// - Parameter isDetailed: exchange by exchange too.
    func report(isDetailed: Bool = false) -> SessionReport {
        SessionReport(
            name: self.name, cassette: self.parts.cassetteName, mode: self.session.mode, isOpen: true,
            recorded: self.parts.cassette.cassette?.answerableCount ?? 0,
            counts: self.common.totalCounts, verdict: self.session.verdict(),
            details: isDetailed ? self.session.report(name: self.parts.cassetteName, cassette: self.parts.cassette.cassette) : nil,
            recorder: self.recorder?.currentStatus, failOn: self.parts.settings.failOnInForce, expiry: self.parts.cassette.plan.expiry)
    }

    /// What came of it: closes the cassette, once nothing is in flight any more. Waits for the disk.
    ///
    /// - Parameter keepsOld: a cassette that the recording was to replace stays.
    func close(keepsOld: Bool) -> SessionReport {
        var file: String?
        var problem: String?
        do throws(CassetteError) {
            file = try self.recorder?.close(keepsOld: keepsOld)
        } catch {
            problem = error.message
        }
        var report = self.report(isDetailed: true)
        report.isOpen = false
        report.file = file
        report.problem = problem
        return report
    }
}
