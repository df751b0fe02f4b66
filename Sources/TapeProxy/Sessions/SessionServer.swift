internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOPosix
internal import TapeCore
internal import TapeExchange
internal import TapeTLS

/// A process that serves many cassettes at once: one event loop, one shared port, and sessions that a control API starts and ends.
///
/// Sessions share the event loop, the certificate authority and nothing else. `start`, `stop` and what opens and ends sessions block the
/// calling thread, which must not be an event loop's.
public final class SessionServer: Sendable {
    /// Sessions at once: a test runner has a worker per core, and each session may hold 4 MiB of answers and a recorder's thread.
    public static let sessionLimit = 64
    /// Threads that wait for the disk when sessions are opened and ended.
    private static let deskThreads = 4

    /// The shared port, as clients use it: `127.0.0.1:7070`.
    public let address: String
    /// The control API's.
    public let controlAddress: String
    let configuration: SessionServerConfiguration
    let interfaces: [IPAddress]
    let stage: NIOLoopBound<SessionStage>
    let door: LoopDoor
    let book = NIOLockedValueBox(SessionBook<OpenSession>(limit: SessionServer.sessionLimit))
    let notice: @Sendable (String) -> Void
    private let group: MultiThreadedEventLoopGroup
    private let threads: NIOThreadPool
    private let desk: NIOThreadPool
    private let listener: any Channel
    private let control: any Channel

    /// Listens and serves; there are no sessions yet.
    ///
    /// - Parameter notice: takes lines for people, on what went wrong in which session; called on any thread.
    public static func start(
        _ configuration: SessionServerConfiguration, notice: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(ProxyError) -> SessionServer {
        for host in [configuration.host, configuration.controlHost] where !LoopbackHost.contains(host) {
            throw ProxyError(
                code: .remoteNotAllowed,
                message: "\"\(host)\" is not a loopback address: sessions and their control are for this machine alone, as 127.0.0.1:0.")
        }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let threads = NIOThreadPool(numberOfThreads: 2)
        let desk = NIOThreadPool(numberOfThreads: Self.deskThreads)
        threads.start()
        desk.start()
        do {
            return try SessionServer(configuration, group: group, threads: threads, desk: desk, notice: notice)
        } catch {
            try? desk.syncShutdownGracefully()
            try? threads.syncShutdownGracefully()
            try? group.syncShutdownGracefully()
            if let error = error as? CertificateError { throw ProxyError(code: .invalidAuthority, message: error.message) }
            if let error = error as? ProxyError { throw error }
            let addresses = "\"\(configuration.host):\(configuration.port)\" and \"\(configuration.controlHost):\(configuration.controlPort)\""
            throw ProxyError(
                code: .cannotListen,
                message: "cannot listen on \(addresses) (\(error)): is another program there? Port 0 takes a free one.")
        }
    }

    private init(
        _ configuration: SessionServerConfiguration, group: MultiThreadedEventLoopGroup, threads: NIOThreadPool, desk: NIOThreadPool,
        notice: @escaping @Sendable (String) -> Void
    ) throws {
        var settings = ProxyConfiguration(
            host: configuration.host, port: configuration.port, durability: configuration.durability,
            diskFullPolicy: configuration.diskFullPolicy, limits: configuration.limits, tls: configuration.tls)
        settings.limits.connections = OpenFileLimit.connections(settings.limits.connections)
        let loop = group.next()
        let interfaces = ProxyListener.interfaces()
        let (stage, lobby, entrance, door) = try loop.submit { [settings] in
            let stage = try SessionStage(loop: loop, settings: settings, threads: threads)
            return (
                NIOLoopBound(stage, eventLoop: loop), NIOLoopBound(stage.lobby, eventLoop: loop),
                NIOLoopBound(Entrance(stage.directory), eventLoop: loop), stage.shared.door
            )
        }.wait()
        self.listener = try ProxyListener.bind(
            host: configuration.host, port: configuration.port, interfaces: interfaces, session: lobby, entrance: entrance
        ).wait()
        let clerk = ControlClerk(token: configuration.token, desk: desk)
        self.control = try ControlListener.bind(
            host: configuration.controlHost, port: configuration.controlPort, loop: loop, clerk: clerk
        ) { address in
            stage.value.shared.dialer.listens(LoopRule(listeningOn: address.ip, port: address.port, interfaces: interfaces))
        }.wait()
        self.configuration = configuration
        self.interfaces = interfaces
        self.stage = stage
        self.door = door
        self.group = group
        self.threads = threads
        self.desk = desk
        self.notice = notice
        self.address = Self.text(configuration.host, self.listener)
        self.controlAddress = Self.text(configuration.controlHost, self.control)
        clerk.begin(for: self)
    }

    private static func text(_ host: String, _ channel: any Channel) -> String {
        let port = channel.localAddress?.port ?? 0
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// Lets nobody start a session any more, lets what is in flight end within the grace period, and closes every cassette.
    ///
    /// A recording that was to replace a cassette stays beside it: whoever ordered it has not said that it is whole.
    ///
    /// - Returns: what came of the sessions that were open.
    public func stop() -> [SessionReport] {
        try? self.control.close().wait()
        try? self.listener.close().wait()
        let left = self.book.withLockedValue { $0.stop() }
        // What is being opened and ended right now comes to its end.
        try? self.desk.syncShutdownGracefully()
        let endings = left.map { self.beginEnd($0) }
        for ending in endings { try? ending.wait() }
        let reports = left.map { $0.close(keepsOld: true) }
        let stage = self.stage
        let lobbyEnd = stage.eventLoop.makePromise(of: Void.self)
        stage.eventLoop.execute { stage.value.lobby.stop(then: lobbyEnd) }
        try? lobbyEnd.futureResult.wait()
        try? stage.eventLoop.submit { stage.value.shared.end() }.wait()
        self.door.shut()
        // The threads first: what they have begun, as looking up a name, ends with a call to the loop.
        try? self.threads.syncShutdownGracefully()
        try? self.group.syncShutdownGracefully()
        return reports
    }
}
