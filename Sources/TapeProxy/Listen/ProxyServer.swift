public import CassettePlayback
public import CassetteRun
internal import NIOCore
internal import NIOPosix
public import TapeBytes
internal import TapeExchange
public import TapeRecorder
internal import TapeTLS

/// A proxy that listens: its event loops, their connections, and whatever records or replays after them.
public final class ProxyServer: Sendable {
    /// As clients use it, `127.0.0.1:7070`.
    public let address: String
    public let port: Int
    let loops: ServerLoops
    let contexts: PerLoop<ProxyContext>
    private let session: SharedSession
    private let channel: any Channel
    private let ending = Ending()

    private init(
        address: String, port: Int, loops: ServerLoops, contexts: PerLoop<ProxyContext>, session: SharedSession, channel: any Channel
    ) {
        self.address = address
        self.port = port
        self.loops = loops
        self.contexts = contexts
        self.session = session
        self.channel = channel
    }

    /// What all event loops have done so far.
    public var counts: ProxyCounts { self.session.totalCounts }

    /// Listens and serves a cassette, until `stop`; `run` stops it with its task.
    ///
    /// - Parameters:
    ///   - cassette: decides, replays and records; the caller closes it after `stop`.
    ///   - notice: takes lines for people, on what went wrong with TLS; called on any of the event loops.
    public static func start(
        _ configuration: ProxyConfiguration, cassette: OpenCassette, notice: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws(ProxyError) -> ProxyServer {
        var configuration = configuration
        configuration.refresh = cassette.plan.refresh
        return try await self.start(
            configuration, session: cassette.session, recorder: cassette.recorder, cassette: cassette.cassette, notice: notice)
    }

    /// The same for a session without a cassette, or one put together by the caller.
    ///
    /// - Parameters:
    ///   - session: decides what is replayed, forwarded and refused.
    ///   - recorder: takes what is forwarded; the caller closes it after `stop`.
    ///   - cassette: holds what is replayed.
    ///   - notice: takes lines for people, on what went wrong with TLS; called on any of the event loops.
    public static func start(
        _ configuration: ProxyConfiguration, session: CassetteSession, recorder: Recorder? = nil, cassette: RecordedCassette? = nil,
        notice: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws(ProxyError) -> ProxyServer {
        try await BlockingWork.run {
            Result { () throws(ProxyError) in
                try self.start(configuration, session: session, recorder: recorder, cassette: cassette, notice: notice)
            }
        }.get()
    }

    /// The same for a thread that may wait, as a command's main thread: never an event loop's, nor a task's.
    package static func start(
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
        do {
            let loops = try ServerLoops(
                configuration.loops, limits: configuration.limits, tls: configuration.tls, log: ProxyLog(configuration.logger),
                resolver: resolver)
            do {
                return try Self.listen(
                    loops, credentials,
                    SharedSession(
                        configuration: configuration, session: session, recorder: recorder, cassette: cassette, log: loops.shared.log,
                        notice: notice))
            } catch {
                loops.stop()
                throw error
            }
        } catch {
            throw ProxyError(starting: error, host: configuration.host, port: configuration.port, option: "--listen")
        }
    }

    private static func check(_ configuration: ProxyConfiguration) throws(ProxyError) -> ProxyCredentials? {
        let isLoopback = LoopbackHost.contains(configuration.host)
        guard isLoopback || configuration.allowsRemote else {
            throw ProxyError(
                .remoteNotAllowed,
                "\"\(configuration.host)\" is not a loopback address: give --allow-remote and --proxy-auth USER:PASSWORD to open the proxy to others."
            )
        }
        guard isLoopback || configuration.credentials != nil else {
            throw ProxyError(
                .remoteNotAllowed,
                "a proxy on \"\(configuration.host)\" would be open to everybody: give --proxy-auth USER:PASSWORD too.")
        }
        return try configuration.credentials.map { pair throws(ProxyError) in try ProxyCredentials(pair: pair) }
    }

    private static func listen(_ loops: ServerLoops, _ credentials: ProxyCredentials?, _ session: SharedSession) throws -> ProxyServer {
        let configuration = session.configuration
        let contexts = try session.makeContexts(behind: loops.doors) { loop in
            ProxyContext(shared: loops.loops.value(on: loop), common: session)
        }
        let channel: any Channel
        do {
            let entrance = try PerLoop(behind: loops.doors) { _, _ in Entrance(credentials) }
            channel = try ProxyListener.bind(
                host: configuration.host, port: configuration.port, interfaces: ProxyListener.interfaces(), on: loops, session: contexts,
                entrance: entrance
            ).wait()
        } catch {
            try? session.stop(contexts).wait()
            throw error
        }
        let port = channel.localAddress?.port ?? configuration.port
        let host = configuration.host.contains(":") ? "[\(configuration.host)]" : configuration.host
        loops.shared.log.started("\(host):\(port)", loops: contexts.count)
        return ProxyServer(address: "\(host):\(port)", port: port, loops: loops, contexts: contexts, session: session, channel: channel)
    }

    /// Serves until the task is cancelled or somebody calls `stop`, and returns when the proxy has stopped.
    public func run() async {
        await self.ending.wanted()
        await self.stop()
    }

    /// Stops taking connections, lets what is in flight end within the grace period, then cuts it.
    ///
    /// Cancellation does not shorten it. Event loops that are somebody else's go on.
    public func stop() async {
        await BlockingWork.run { self.stop() }
    }

    /// The same for a thread that may wait: never an event loop's, nor a task's.
    package func stop() {
        self.ending.perform {
            self.loops.shared.log.stopping()
            try? self.channel.close().wait()
            try? self.session.stop(self.contexts).wait()
            self.loops.stop()
            self.loops.shared.log.stopped(self.counts)
        }
    }
}
