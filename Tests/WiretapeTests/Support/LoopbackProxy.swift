import CassettePlayback
import CassetteStore
import TapeProxy

/// The proxy, on a free port of this process, with one cassette.
final class LoopbackProxy {
    private let server: ProxyServer
    private let cassette: OpenCassette
    private var isStopped = false

    init(_ file: String, mode: RecordMode) throws {
        // No redaction: cookies have to come back unchanged.
        var options = RunPlan.Options()
        options.redaction = nil
        self.cassette = try OpenCassette(file, mode: mode, options: options, version: "1.2.3")
        self.server = try ProxyServer.start(
            ProxyConfiguration(), session: self.cassette.session, recorder: self.cassette.recorder, cassette: self.cassette.cassette)
    }

    deinit { _ = try? self.stop() }

    var url: String { "http://\(self.server.address)" }

    /// Waits until the clients' requests have ended.
    @discardableResult
    func stop() throws -> (recorded: Int, misses: Int) {
        let session = self.cassette.session
        guard !self.isStopped else { return (0, session.verdict().misses) }
        self.isStopped = true
        self.server.stop()
        guard let path = try self.cassette.close() else { return (0, session.verdict().misses) }
        return (try RecordedCassette(path: path).count, session.verdict().misses)
    }
}
