internal import CassettePlayback
internal import CassetteStore
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import TapeExchange

/// Serves many cassettes at once: one shared port, and sessions that are opened and ended while it runs.
///
/// Sessions share the event loops, the certificate authority and nothing else. Who opens and ends them is another's business: see
/// `ControlServer`.
public final class SessionServer: Sendable {
    /// Sessions at once: two for each core of the largest machines of CI. Each may hold 1 MiB of answers and a recorder's thread.
    public static let sessionLimit = 256

    /// The shared port, as clients use it: `127.0.0.1:7070`.
    public let address: String
    let configuration: SessionServerConfiguration
    /// Of each session's configuration what is the same for all.
    let settings: ProxyConfiguration
    let interfaces: [IPAddress]
    let loops: ServerLoops
    let stages: PerLoop<SessionStage>
    let book = NIOLockedValueBox(SessionBook<OpenSession>(limit: SessionServer.sessionLimit))
    let notice: @Sendable (String) -> Void
    private let lobby: SharedSession
    private let lobbies: PerLoop<ProxyContext>
    private let listener: any Channel
    private let ending = Ending()

    /// Listens and serves; there are no sessions yet.
    ///
    /// - Parameter notice: takes lines for people, on what went wrong in which session; called on any thread.
    public static func start(
        _ configuration: SessionServerConfiguration, notice: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws(ProxyError) -> SessionServer {
        try await BlockingWork.run {
            Result { () throws(ProxyError) in try self.start(configuration, notice: notice) }
        }.get()
    }

    /// The same for a thread that may wait, as a command's main thread: never an event loop's, nor a task's.
    package static func start(
        _ configuration: SessionServerConfiguration, notice: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(ProxyError) -> SessionServer {
        guard LoopbackHost.contains(configuration.host) else {
            throw ProxyError(
                code: .remoteNotAllowed,
                message: "\"\(configuration.host)\" is not a loopback address: sessions are for this machine alone, as on 127.0.0.1:0.")
        }
        var configuration = configuration
        configuration.limits.connections = OpenFileLimit.connections(configuration.limits.connections)
        do {
            let loops = try ServerLoops(
                configuration.loops, limits: configuration.limits, tls: configuration.tls, log: ProxyLog(configuration.logger))
            do {
                return try SessionServer(configuration, loops: loops, notice: notice)
            } catch {
                loops.stop()
                throw error
            }
        } catch {
            throw ProxyError(starting: error, host: configuration.host, port: configuration.port, option: "--listen")
        }
    }

    private init(
        _ configuration: SessionServerConfiguration, loops: ServerLoops, notice: @escaping @Sendable (String) -> Void
    ) throws {
        let settings = ProxyConfiguration(
            host: configuration.host, port: configuration.port, durability: configuration.durability,
            diskFullPolicy: configuration.diskFullPolicy, limits: configuration.limits, tls: configuration.tls)
        let lobby = SharedSession(configuration: settings, session: try CassetteSession(mode: .none), log: loops.shared.log)
        let lobbies = try lobby.makeContexts(behind: loops.doors) { ProxyContext(shared: loops.loops.value(on: $0), common: lobby) }
        let stages = try PerLoop(behind: loops.doors) { _, loop in
            SessionStage(shared: loops.loops.value(on: loop), lobby: lobbies.value(on: loop))
        }
        let interfaces = ProxyListener.interfaces()
        do {
            self.listener = try ProxyListener.bind(
                host: configuration.host, port: configuration.port, interfaces: interfaces, on: loops, session: lobbies,
                entrance: try PerLoop(behind: loops.doors) { _, loop in Entrance(stages.value(on: loop).directory) }
            ).wait()
        } catch {
            try? lobby.stop(lobbies).wait()
            throw error
        }
        let port = self.listener.localAddress?.port ?? configuration.port
        self.address = configuration.host.contains(":") ? "[\(configuration.host)]:\(port)" : "\(configuration.host):\(port)"
        self.configuration = configuration
        self.settings = settings
        self.interfaces = interfaces
        self.loops = loops
        self.stages = stages
        self.lobby = lobby
        self.lobbies = lobbies
        self.notice = notice
        loops.shared.log.started(self.address, loops: stages.count)
    }

    /// Serves until the task is cancelled or somebody calls `stop`, and returns when the server has stopped.
    ///
    /// - Returns: what came of the sessions that were open; nothing where another `stop` has returned it.
    public func run() async -> [SessionReport] {
        await self.ending.wanted()
        return await self.stop()
    }

    /// Lets nobody open a session any more, lets what is in flight end within the grace period, and closes every cassette.
    ///
    /// A recording that was to replace a cassette stays beside it: nobody has said that it is whole. Nobody may be opening or ending a
    /// session meanwhile. Event loops that are somebody else's go on.
    ///
    /// - Returns: what came of the sessions that were open; nothing for all but the first who stop it.
    public func stop() async -> [SessionReport] {
        await BlockingWork.run { self.stop() }
    }

    /// The same for a thread that may wait: never an event loop's, nor a task's.
    package func stop() -> [SessionReport] {
        self.ending.perform {
            self.loops.shared.log.stopping()
            try? self.listener.close().wait()
            let left = self.book.withLockedValue { $0.stop() }
            let endings = left.map { self.beginEnd($0) }
            for ending in endings { try? ending.wait() }
            let reports = left.map { self.close($0, keepsOld: true) }
            try? self.lobby.stop(self.lobbies).wait()
            self.loops.stop()
            self.loops.shared.log.stopped(self.lobby.totalCounts)
            return reports
        } ?? []
    }
}
