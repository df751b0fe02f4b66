internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOPosix
internal import TapeCore
internal import TapeExchange
internal import TapeTLS

/// Serves many cassettes at once: one event loop, one shared port, and sessions that are opened and ended while it runs.
///
/// Sessions share the event loop, the certificate authority and nothing else. Who opens and ends them is another's business: see
/// `ControlServer`. `start` and `stop` block the calling thread, which must not be an event loop's.
public final class SessionServer: Sendable {
    /// Sessions at once: two for each core of the largest machines of CI. Each may hold 1 MiB of answers and a recorder's thread.
    public static let sessionLimit = 256

    /// The shared port, as clients use it: `127.0.0.1:7070`.
    public let address: String
    let configuration: SessionServerConfiguration
    let interfaces: [IPAddress]
    let stage: NIOLoopBound<SessionStage>
    let door: LoopDoor
    let book = NIOLockedValueBox(SessionBook<OpenSession>(limit: SessionServer.sessionLimit))
    let notice: @Sendable (String) -> Void
    private let group: MultiThreadedEventLoopGroup
    private let resolver: NameResolver
    private let disk: DiskPool
    private let listener: any Channel

    /// Listens and serves; there are no sessions yet.
    ///
    /// - Parameter notice: takes lines for people, on what went wrong in which session; called on any thread.
    public static func start(
        _ configuration: SessionServerConfiguration, notice: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(ProxyError) -> SessionServer {
        guard LoopbackHost.contains(configuration.host) else {
            throw ProxyError(
                code: .remoteNotAllowed,
                message: "\"\(configuration.host)\" is not a loopback address: sessions are for this machine alone, as on 127.0.0.1:0.")
        }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let resolver = NameResolver()
        let disk = DiskPool()
        do {
            return try SessionServer(configuration, group: group, resolver: resolver, disk: disk, notice: notice)
        } catch {
            disk.stop()
            try? group.syncShutdownGracefully()
            if let error = error as? CertificateError { throw ProxyError(code: .invalidAuthority, message: error.message) }
            throw ProxyError(
                code: .cannotListen,
                message:
                    "cannot listen on \"\(configuration.host):\(configuration.port)\" (\(error)): is another program there? --listen 127.0.0.1:0 takes a free port."
            )
        }
    }

    private init(
        _ configuration: SessionServerConfiguration, group: MultiThreadedEventLoopGroup, resolver: NameResolver, disk: DiskPool,
        notice: @escaping @Sendable (String) -> Void
    ) throws {
        var settings = ProxyConfiguration(
            host: configuration.host, port: configuration.port, durability: configuration.durability,
            diskFullPolicy: configuration.diskFullPolicy, limits: configuration.limits, tls: configuration.tls)
        settings.limits.connections = OpenFileLimit.connections(settings.limits.connections)
        let loop = group.next()
        let interfaces = ProxyListener.interfaces()
        let (stage, lobby, entrance, door) = try loop.submit { [settings] in
            let stage = try SessionStage(loop: loop, settings: settings, resolver: resolver, disk: disk)
            return (
                NIOLoopBound(stage, eventLoop: loop), NIOLoopBound(stage.lobby, eventLoop: loop),
                NIOLoopBound(Entrance(stage.directory), eventLoop: loop), stage.shared.door
            )
        }.wait()
        self.listener = try ProxyListener.bind(
            host: configuration.host, port: configuration.port, interfaces: interfaces, session: lobby, entrance: entrance
        ).wait()
        let port = self.listener.localAddress?.port ?? configuration.port
        self.address = configuration.host.contains(":") ? "[\(configuration.host)]:\(port)" : "\(configuration.host):\(port)"
        self.configuration = configuration
        self.interfaces = interfaces
        self.stage = stage
        self.door = door
        self.group = group
        self.resolver = resolver
        self.disk = disk
        self.notice = notice
    }

    /// Lets nobody open a session any more, lets what is in flight end within the grace period, and closes every cassette.
    ///
    /// A recording that was to replace a cassette stays beside it: nobody has said that it is whole. Nobody may be opening or ending a
    /// session meanwhile.
    ///
    /// - Returns: what came of the sessions that were open.
    public func stop() -> [SessionReport] {
        try? self.listener.close().wait()
        let left = self.book.withLockedValue { $0.stop() }
        let endings = left.map { self.beginEnd($0) }
        for ending in endings { try? ending.wait() }
        let reports = left.map { $0.close(keepsOld: true) }
        let stage = self.stage
        let lobbyEnd = stage.eventLoop.makePromise(of: Void.self)
        stage.eventLoop.execute { stage.value.lobby.stop(then: lobbyEnd) }
        try? lobbyEnd.futureResult.wait()
        try? stage.eventLoop.submit { stage.value.shared.end() }.wait()
        self.door.shut()
        // Before the loop: what either has begun ends with a call to it.
        self.resolver.stop()
        self.disk.stop()
        try? self.group.syncShutdownGracefully()
        return reports
    }
}
