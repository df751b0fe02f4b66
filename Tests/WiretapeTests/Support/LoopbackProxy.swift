import CassetteModel
import CassettePlayback
import CassetteStore
import Foundation
import TapeProxy
import TapeRecorder

/// The proxy, on a free port of this process, with one cassette.
final class LoopbackProxy {
    private let server: ProxyServer
    private let session: CassetteSession
    private let recorder: Recorder?
    private var isStopped = false

    init(_ file: String, mode: RecordMode) throws {
        let now = Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000))
        let plan = try RunPlan(file: file, mode: mode, settings: RunSettings(), mayRecord: mode != .none, now: now)
        // Nothing is taken out: cookies are to come back as they came.
        self.recorder = try Recorder(plan.recording, version: "1.2.3", redaction: nil)
        self.session = try CassetteSession(
            mode: plan.recording.mode, cassette: plan.cassette, rules: plan.rules, redaction: try plan.liveRedactor(adding: nil))
        self.server = try ProxyServer.start(
            ProxyConfiguration(), session: self.session, recorder: self.recorder, cassette: plan.cassette)
    }

    deinit { _ = try? self.stop() }

    var url: String { "http://\(self.server.address)" }

    /// Waits until the clients' requests have ended.
    @discardableResult
    func stop() throws -> (recorded: Int, misses: Int) {
        let verdict = self.session.verdict()
        guard !self.isStopped else { return (0, verdict.misses) }
        self.isStopped = true
        self.server.stop()
        guard let recorder, let path = try recorder.close(keepsOld: false) as String? else { return (0, self.session.verdict().misses) }
        return (try RecordedCassette(path: path).count, self.session.verdict().misses)
    }
}
