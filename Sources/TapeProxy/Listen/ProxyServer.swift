public import CassettePlayback
public import CassetteRun
internal import LocalHTTP
internal import NIOCore
internal import NIOPosix
internal import Platform
public import TapeBytes
internal import TapeExchange
internal import TapeIsolation
public import TapeRecorder
internal import TapeTLS
package import TrafficRules

/// A proxy that listens, and records or replays the traffic that passes through it.
public final class ProxyServer: Sendable {
    /// The address that clients use: `127.0.0.1:7070`.
    public let address: String
    public let port: Int
    let loops: ServerLoops
    let contexts: PerLoop<ProxyContext>
    private let session: SharedSession
    private let channel: any Channel
    private let sessionGate: PerLoop<SessionGate>
    /// The listeners inside an isolation.
    private let insideChannels = Guarded<[any Channel]>([])
    private let ending = Shutdown()

    private init(
        address: String, port: Int, loops: ServerLoops, contexts: PerLoop<ProxyContext>, session: SharedSession, channel: any Channel,
        sessionGate: PerLoop<SessionGate>
    ) {
        self.sessionGate = sessionGate
        self.address = address
        self.port = port
        self.loops = loops
        self.contexts = contexts
        self.session = session
        self.channel = channel
    }

    /// The counts of all event loops so far.
    public var counts: ProxyCounts { self.session.totalCounts }

    /// What the clients did with answers that failed; nil unless the configuration asks for that.
    ///
    /// - Parameter exitCode: of the client's process; nil if the run started none.
    package func clientVerdict(exitCode: Int32?, limits: ClientVerdict.Limits) -> [ClientVerdict.Finding]? {
        self.session.rules?.verdict(exitCode: exitCode, limits: limits)
    }

    /// Adds match rules, which apply to requests that arrive from now on. Reads from disk.
    package func match(by texts: MatchRuleTexts) throws { try self.session.match(by: texts) }

    /// The time since the run began, as the traffic rules have it.
    package var elapsed: Duration { self.session.rules?.elapsed(at: .now()) ?? .zero }

    /// SHA-256 of the public key of every certificate shown to clients; nil if TLS is not intercepted.
    package var leafKeyDigest: [UInt8]? { try? self.loops.shared.interception?.leafKeyDigest() }

    /// Listens and serves a cassette until `stop` is called; `run` calls it when its task is cancelled.
    ///
    /// The cassette's plan determines whether dates move, so `configuration.refresh` is ignored. A `diskFullPolicy` of `refuse` requires a
    /// cassette that was opened with `refusesUnrecorded`.
    ///
    /// - Parameters:
    ///   - cassette: decides, replays and records. The caller closes it after `stop`.
    ///   - notice: receives messages for people about TLS failures. Called on any of the event loops.
    public static func start(
        _ configuration: ProxyConfiguration, cassette: OpenCassette, notice: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws(ProxyError) -> ProxyServer {
        var configuration = configuration
        configuration.refresh = cassette.plan.refresh
        return try await self.start(
            configuration, session: cassette.session, recorder: cassette.recorder, cassette: cassette.cassette, notice: notice)
    }

    /// Listens and serves a session without a cassette, or one that the caller has assembled.
    ///
    /// - Parameters:
    ///   - session: decides what is replayed, forwarded and refused.
    ///   - recorder: records forwarded exchanges. The caller closes it after `stop`.
    ///   - cassette: the recorded exchanges to replay.
    ///   - notice: receives messages for people about TLS failures. Called on any of the event loops.
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

    /// The same, for a thread that may block, such as a command's main thread. Never call it on an event loop or in a task.
    package static func start(
        _ configuration: ProxyConfiguration, session: CassetteSession, recorder: Recorder? = nil, cassette: RecordedCassette? = nil,
        notice: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(ProxyError) -> ProxyServer {
        try self.start(
            configuration, session: session, recorder: recorder, cassette: cassette, resolver: NameResolver(), notice: notice)
    }

    /// - Parameter resolver: owned by the server and stopped with it.
    static func start(
        _ configuration: ProxyConfiguration, session: CassetteSession, recorder: Recorder?, cassette: RecordedCassette?,
        resolver: NameResolver, notice: @escaping @Sendable (String) -> Void
    ) throws(ProxyError) -> ProxyServer {
        var configuration = configuration
        let credentials = try Self.check(configuration)
        configuration.limits.connections = OpenFileLimit.connections(configuration.limits.connections)
        do {
            let loops = try ServerLoops(
                configuration.loops, limits: configuration.limits, tls: configuration.tls, chain: configuration.chain,
                isTransparent: configuration.isTransparent, isolation: configuration.isolation,
                log: ProxyLog(configuration.logger), resolver: resolver)
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
                "\"\(configuration.host)\" is not a loopback address: pass --allow-remote and --proxy-auth USER:PASSWORD to open the proxy to others."
            )
        }
        guard isLoopback || configuration.credentials != nil else {
            throw ProxyError(
                .remoteNotAllowed,
                "a proxy on \"\(configuration.host)\" would be open to everybody: pass --proxy-auth USER:PASSWORD too.")
        }
        return try configuration.credentials.map { pair throws(ProxyError) in try ProxyCredentials(pair: pair) }
    }

    private static func listen(_ loops: ServerLoops, _ credentials: ProxyCredentials?, _ session: SharedSession) throws -> ProxyServer {
        let configuration = session.configuration
        let contexts = try session.makeContexts(through: loops.loopGates) { loop in
            ProxyContext(shared: loops.loops.value(on: loop), common: session)
        }
        let channel: any Channel
        let sessionGate: PerLoop<SessionGate>
        do {
            let interfaces = ProxyListener.interfaces()
            for closed in configuration.closedPorts {
                guard let address = IPAddress(closed.host) ?? IPAddress("127.0.0.1") else { continue }
                loops.shared.ownPorts.add(LoopRule(listeningOn: address, port: closed.port, interfaces: interfaces))
            }
            sessionGate = try PerLoop(through: loops.loopGates) { _, _ in SessionGate(credentials) }
            channel = try ProxyListener.bind(
                host: configuration.host, port: configuration.port, interfaces: interfaces, on: loops, session: contexts,
                sessionGate: sessionGate
            ).wait()
        } catch {
            try? session.stop(contexts).wait()
            throw error
        }
        let port = channel.localAddress?.port ?? configuration.port
        let host = configuration.host.contains(":") ? "[\(configuration.host)]" : configuration.host
        loops.shared.log.started("\(host):\(port)", loops: contexts.count)
        return ProxyServer(
            address: "\(host):\(port)", port: port, loops: loops, contexts: contexts, session: session, channel: channel,
            sessionGate: sessionGate)
    }

    #if os(Linux)
    /// Takes the connections of the configuration's isolation, whose sockets have been received. Never call it on an event loop.
    package func serveIsolation() throws(ProxyError) {
        guard let isolation = self.loops.shared.isolation else { return }
        let listeners = isolation.takeListeners()
        do {
            for (descriptor, isLed) in listeners.led.map({ ($0, true) }) + [listeners.proxy].compactMap(\.self).map({ ($0, false) }) {
                let channel = try ProxyListener.adopt(
                    descriptor, isolation: isLed ? isolation : nil, on: self.loops, session: self.contexts, sessionGate: self.sessionGate
                ).wait()
                self.insideChannels.withLock { $0.append(channel) }
            }
        } catch {
            throw ProxyError(.cannotListen, "cannot listen in the isolated network (\(error)): try again, or leave out --isolate.")
        }
    }

    /// Takes all connections that an isolated program has made, and reads what they have sent. The program may have ended right after it had
    /// sent them. A program that goes on in the background is not waited for longer than this.
    private func settleIsolation() {
        guard let isolation = self.loops.shared.isolation else { return }
        let end = NIODeadline.now() + .seconds(10)
        while NIODeadline.now() < end {
            if !isolation.hasWaiting {
                // A connection that the first loop has taken is known to its own loop after a turn of both.
                _ = try? self.loops.loops.map { _ in }
                let unread = try? self.loops.loops.map { loop in loop.registry.all.contains(where: \.hasUnread) }
                if unread?.contains(true) != true, !isolation.hasWaiting { return }
            }
            poll(nil, 0, 2)
        }
    }
    #endif

    /// Serves until the task is cancelled or `stop` is called, and returns when the proxy has stopped.
    public func run() async {
        await self.ending.wanted()
        await self.stop()
    }

    /// Stops accepting connections, lets exchanges in flight end within the grace period, then closes the rest.
    ///
    /// Cancelling the task does not shorten this. Shared event loops keep running.
    public func stop() async {
        await BlockingWork.run { self.stop() }
    }

    /// The same, for a thread that may block. Never call it on an event loop or in a task.
    package func stop() {
        self.ending.perform {
            self.loops.shared.log.stopping()
            #if os(Linux)
            self.settleIsolation()
            #endif
            try? self.channel.close().wait()
            for channel in self.insideChannels.withLock({ $0 }) { try? channel.close().wait() }
            try? self.session.stop(self.contexts).wait()
            self.loops.stop()
            self.loops.shared.log.stopped(self.counts)
        }
    }
}
