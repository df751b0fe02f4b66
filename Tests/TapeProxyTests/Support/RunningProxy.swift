import CassetteModel
import CassettePlayback
import CassetteStore
import TapeRecorder
import TapeTestSupport
@testable import TapeProxy

/// A proxy on a free port with a cassette in a temporary folder.
final class RunningProxy {
    let folder: TemporaryFolder
    let server: ProxyServer
    let session: CassetteSession
    let recorder: Recorder?
    /// Lines for people, in order.
    let notices = NoticeList()
    private var isStopped = false
    /// The test stops the server itself.
    var isServerStopped = false

    /// - Parameters:
    ///   - folder: one with a cassette in it, or an empty one.
    ///   - loops: how many loops connections are distributed over. Each loop has its own connections to origins.
    init(
        _ mode: RecordMode = .all, in folder: TemporaryFolder? = nil, repetition: Repetition = .never, order: ReplayOrder = .any,
        loops: Int = 1, resolver: NameResolver = NameResolver(), configure: (inout ProxyConfiguration) -> Void = { _ in }
    ) throws {
        let folder = try folder ?? TemporaryFolder()
        var configuration = ProxyConfiguration()
        configuration.limits.grace = 1
        configuration.limits.linger = 1
        // A client or an origin of a test may get no time for minutes on a busy machine.
        configuration.limits.clientStall = 3600
        configuration.loops = .own(loops)
        configure(&configuration)
        let path = folder.file("tape.json")
        let plan = try RecordingPlan(path: path, mode: mode, exists: CassettePlace.exists(path))
        let cassette = plan.replays ? try RecordedCassette(path: path) : nil
        let recorder = try Recorder(plan, version: "1.2.3", redaction: nil)
        self.session = try CassetteSession(mode: mode, cassette: cassette, repetition: repetition, order: order)
        self.server = try ProxyServer.start(
            configuration, session: self.session, recorder: recorder, cassette: cassette, resolver: resolver,
            notice: self.notices.add)
        self.folder = folder
        self.recorder = recorder
    }

    deinit { _ = try? self.stop() }

    func connect(receives: Int32? = nil) throws -> RawConnection {
        try RawConnection(port: self.server.port, receives: receives)
    }

    /// Sends a request on a new connection, and reads the answer to the end of the connection.
    func ask(_ request: String) throws -> String {
        let client = try self.connect()
        try client.send(request)
        return String(decoding: try client.readToEnd().bytes, as: UTF8.self)
    }

    /// Stops the proxy and closes the cassette.
    ///
    /// - Returns: the path of the recording; empty if nothing was recorded.
    @discardableResult
    func stop(keepsOld: Bool = false) throws -> String {
        guard !self.isStopped else { return "" }
        self.isStopped = true
        if !self.isServerStopped { self.server.stop() }
        return try self.recorder?.close(keepsOld: keepsOld) ?? ""
    }

    /// Stops and reads what was recorded, in the order of the file.
    func recorded() throws -> [Interaction] {
        try self.stop()
        // A recording without exchanges leaves no file.
        guard CassettePlace.exists(self.folder.file("tape.json")) else { return [] }
        return try RecordedExchanges.read(self.folder.file("tape.json"))
    }
}
