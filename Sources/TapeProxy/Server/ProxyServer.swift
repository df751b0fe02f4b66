internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOPosix
public import TapeCore
internal import TapeExchange
public import TapeRecorder
internal import TapeTLS

/// A proxy that listens: one event loop, its connections, and whatever records or replays behind them.
///
/// `start` and `stop` block the calling thread, which must not be an event loop's.
public final class ProxyServer: Sendable {
    /// As clients use it, `127.0.0.1:7070`.
    public let address: String
    public let port: Int
    private let group: MultiThreadedEventLoopGroup
    private let resolver: NameResolver
    private let disk: DiskPool
    private let channel: any Channel
    private let proxy: NIOLoopBound<ProxyContext>
    private let countsBox: NIOLockedValueBox<ProxyCounts>
    private let door: LoopDoor

    private init(
        address: String, port: Int, group: MultiThreadedEventLoopGroup, resolver: NameResolver, disk: DiskPool, channel: any Channel,
        proxy: NIOLoopBound<ProxyContext>, counts: NIOLockedValueBox<ProxyCounts>, door: LoopDoor
    ) {
        self.address = address
        self.port = port
        self.group = group
        self.resolver = resolver
        self.disk = disk
        self.channel = channel
        self.proxy = proxy
        self.countsBox = counts
        self.door = door
    }

    public var counts: ProxyCounts { self.countsBox.withLockedValue { $0 } }

    /// Listens and serves.
    ///
    /// - Parameters:
    ///   - session: decides what is replayed, forwarded and refused.
    ///   - recorder: takes what is forwarded; the caller closes it after `stop`.
    ///   - cassette: holds what is replayed.
    ///   - notice: takes lines for people, on what went wrong with TLS; called on the event loop.
    public static func start(
        _ configuration: ProxyConfiguration, session: CassetteSession, recorder: Recorder? = nil, cassette: RecordedCassette? = nil,
        notice: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(ProxyError) -> ProxyServer {
        try self.start(
            configuration, session: session, recorder: recorder, cassette: cassette, resolver: NameResolver(), notice: notice)
    }

    /// - Parameter resolver: the server's own; stopped with it.
    static func start(
        _ configuration: ProxyConfiguration, session: CassetteSession, recorder: Recorder?, cassette: RecordedCassette?,
        resolver: NameResolver, notice: @escaping @Sendable (String) -> Void
    ) throws(ProxyError) -> ProxyServer {
        var configuration = configuration
        let credentials = try Self.check(configuration)
        configuration.limits.connections = OpenFileLimit.connections(configuration.limits.connections)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let disk = DiskPool()
        do {
            return try Self.listen(
                configuration, credentials: credentials, session: session, recorder: recorder, cassette: cassette, group: group,
                resolver: resolver, disk: disk, notice: notice)
        } catch let error as CertificateError {
            disk.stop()
            try? group.syncShutdownGracefully()
            throw ProxyError(code: .invalidAuthority, message: error.message)
        } catch {
            disk.stop()
            try? group.syncShutdownGracefully()
            let address = "\(configuration.host):\(configuration.port)"
            throw ProxyError(
                code: .cannotListen,
                message: "cannot listen on \"\(address)\" (\(error)): is another program there? --listen 127.0.0.1:0 takes a free port.")
        }
    }

    private static func check(_ configuration: ProxyConfiguration) throws(ProxyError) -> ProxyCredentials? {
        let isLoopback = LoopbackHost.contains(configuration.host)
        guard isLoopback || configuration.allowsRemote else {
            throw ProxyError(
                code: .remoteNotAllowed,
                message:
                    "\"\(configuration.host)\" is not a loopback address: give --allow-remote and --proxy-auth USER:PASSWORD to open the proxy to others."
            )
        }
        guard isLoopback || configuration.credentials != nil else {
            throw ProxyError(
                code: .remoteNotAllowed,
                message: "a proxy on \"\(configuration.host)\" would be open to everybody: give --proxy-auth USER:PASSWORD too.")
        }
        return try configuration.credentials.map { pair throws(ProxyError) in try ProxyCredentials(pair: pair) }
    }

    private static func listen(
        _ configuration: ProxyConfiguration, credentials: ProxyCredentials?, session: CassetteSession, recorder: Recorder?,
        cassette: RecordedCassette?, group: MultiThreadedEventLoopGroup, resolver: NameResolver, disk: DiskPool,
        notice: @escaping @Sendable (String) -> Void
    ) throws -> ProxyServer {
        let loop = group.next()
        let counts = NIOLockedValueBox(ProxyCounts())
        let interfaces = ProxyListener.interfaces()
        let (proxy, entrance, door) = try loop.submit {
            let shared = try ProxyLoop(
                loop: loop, limits: configuration.limits, tls: configuration.tls,
                dialer: UpstreamDialer(loop: loop, limits: configuration.limits, resolver: resolver), disk: disk)
            let proxy = ProxyContext(
                shared: shared, configuration: configuration, session: session, recorder: recorder,
                library: cassette.map { ReplayLibrary(loop: loop, cassette: $0, disk: disk, refresh: configuration.refresh) },
                counts: counts, notice: notice)
            shared.begin()
            return (
                NIOLoopBound(proxy, eventLoop: loop), NIOLoopBound(Entrance(credentials), eventLoop: loop), proxy.door
            )
        }.wait()
        // Before the first connection: one that fills the queue waits to be told of its drain.
        recorder?.onDrain { door.execute { proxy.value.recorderDrained() } }
        let channel: any Channel
        do {
            channel = try ProxyListener.bind(
                host: configuration.host, port: configuration.port, interfaces: interfaces, session: proxy, entrance: entrance
            ).wait()
        } catch {
            // The recorder outlives the loop.
            door.shut()
            throw error
        }
        let port = channel.localAddress?.port ?? configuration.port
        let host = configuration.host.contains(":") ? "[\(configuration.host)]" : configuration.host
        return ProxyServer(
            address: "\(host):\(port)", port: port, group: group, resolver: resolver, disk: disk, channel: channel, proxy: proxy,
            counts: counts,
            door: door)
    }

    /// Stops taking connections, lets what is in flight end within the grace period, then cuts it.
    public func stop() {
        try? self.channel.close().wait()
        let proxy = self.proxy
        let done = proxy.eventLoop.makePromise(of: Void.self)
        proxy.eventLoop.execute { proxy.value.stop(then: done) }
        try? done.futureResult.wait()
        try? proxy.eventLoop.submit { proxy.value.shared.end() }.wait()
        self.door.shut()
        // Before the loop: what either has begun ends with a call to it.
        self.resolver.stop()
        self.disk.stop()
        try? self.group.syncShutdownGracefully()
    }
}
