internal import LocalHTTP
public import Logging
internal import NIOCore
public import TapeBytes
internal import TapeExchange

/// Serves many cassettes at once, with one shared port and sessions that are opened and ended while it runs.
///
/// Sessions share only the event loops and the certificate authority. Clients open and end them through `ControlServer`.
public final class SessionServer: Sendable {
    /// Sessions at once: two for each core of the largest CI machines. Each may hold 1 MiB of responses and a recorder's thread.
    public static let sessionLimit = 256

    /// The version of the protocol between `serve` and the programs that order sessions.
    package static let protocolVersion = ControlDescription.version

    /// The address of the shared port: `127.0.0.1:7070`.
    public let address: String
    let configuration: SessionServerConfiguration
    /// The settings that are the same in all sessions' configurations.
    let settings: ProxyConfiguration
    let interfaces: [IPAddress]
    let loops: ServerLoops
    let sessionLoops: PerLoop<SessionLoop>
    let registry = Guarded(SessionRegistry<OpenSession>(limit: SessionServer.sessionLimit))
    let notice: @Sendable (String) -> Void
    private let unauthenticated: SharedSession
    private let unauthenticatedContexts: PerLoop<ProxyContext>
    private let listener: any Channel
    private let ending = Shutdown()
    private let closings = Guarded(ClosingSessions())

    /// Starts to listen and serve, without any sessions yet.
    ///
    /// - Parameter notice: receives messages for people about problems of a session. Called on any thread.
    public static func start(
        _ configuration: SessionServerConfiguration, notice: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws(ProxyError) -> SessionServer {
        try await BlockingWork.run {
            Result { () throws(ProxyError) in try self.start(configuration, notice: notice) }
        }.get()
    }

    /// The same, for a thread that may block, such as a command's main thread. Never call it on an event loop or in a task.
    package static func start(
        _ configuration: SessionServerConfiguration, notice: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(ProxyError) -> SessionServer {
        guard LoopbackHost.contains(configuration.host) else {
            throw ProxyError(
                .remoteNotAllowed,
                "\"\(configuration.host)\" is not a loopback address: sessions are only for this machine. Use 127.0.0.1:0, for example.")
        }
        var configuration = configuration
        configuration.limits.connections = OpenFileLimit.connections(configuration.limits.connections)
        do {
            let loops = try ServerLoops(
                configuration.loops, limits: configuration.limits, tls: configuration.tls, chain: configuration.chain,
                log: ProxyLog(configuration.logger))
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
        let unauthenticated = SharedSession(configuration: settings, session: try CassetteSession(mode: .none), log: loops.shared.log)
        let unauthenticatedContexts = try unauthenticated.makeContexts(through: loops.loopGates) {
            ProxyContext(shared: loops.loops.value(on: $0), common: unauthenticated)
        }
        let sessionLoops = try PerLoop(through: loops.loopGates) { _, loop in
            SessionLoop(shared: loops.loops.value(on: loop), unauthenticated: unauthenticatedContexts.value(on: loop))
        }
        let interfaces = ProxyListener.interfaces()
        do {
            self.listener = try ProxyListener.bind(
                host: configuration.host, port: configuration.port, interfaces: interfaces, on: loops, session: unauthenticatedContexts,
                sessionGate: try PerLoop(through: loops.loopGates) { _, loop in SessionGate(sessionLoops.value(on: loop).directory) }
            ).wait()
        } catch {
            try? unauthenticated.stop(unauthenticatedContexts).wait()
            throw error
        }
        let port = self.listener.localAddress?.port ?? configuration.port
        self.address = configuration.host.contains(":") ? "[\(configuration.host)]:\(port)" : "\(configuration.host):\(port)"
        self.configuration = configuration
        self.settings = settings
        self.interfaces = interfaces
        self.loops = loops
        self.sessionLoops = sessionLoops
        self.unauthenticated = unauthenticated
        self.unauthenticatedContexts = unauthenticatedContexts
        self.notice = notice
        loops.shared.log.started(self.address, loops: sessionLoops.count)
    }

    /// Serves until the task is cancelled or `stop` is called. Returns when the server has stopped.
    ///
    /// - Returns: the reports of the sessions that were open; empty if another `stop` has returned them.
    public func run() async -> [SessionReport] {
        await self.ending.wanted()
        return await self.stop()
    }

    /// Refuses new sessions, lets exchanges in flight end within the grace period, and closes every cassette.
    ///
    /// A recording that would replace a cassette is left next to it, because it may be incomplete. No call may be opening or ending a
    /// session meanwhile. Shared event loops keep running.
    ///
    /// - Returns: the reports of the sessions that were open; empty for all but the first caller.
    public func stop() async -> [SessionReport] {
        await BlockingWork.run { self.stop() }
    }

    /// Makes `stop`, and the ends of single sessions, finish soon by skipping unfinished searches for secrets and the decoding of raw
    /// bodies, as `Recorder.hasten` describes. Applies to all sessions from now on.
    public func hasten() { self.closings.withLock { $0.hasten() } }

    /// The same, for a thread that may block. Never call it on an event loop or in a task.
    ///
    /// - Parameter searching: called ten times a second with the number of exchanges in the closing session whose bodies are still being
    ///   searched for secrets.
    package func stop(searching: (_ left: Int) -> Void = { _ in }) -> [SessionReport] {
        self.ending.perform {
            self.loops.shared.log.stopping()
            try? self.listener.close().wait()
            let left = self.registry.withLock { $0.stop() }
            let endings = left.map { self.beginEnd($0) }
            for ending in endings { try? ending.wait() }
            let reports = left.map { self.close($0, keepsOld: true, searching: searching) }
            try? self.unauthenticated.stop(self.unauthenticatedContexts).wait()
            self.loops.stop()
            self.loops.shared.log.stopped(self.unauthenticated.totalCounts)
            return reports
        } ?? []
    }
}

/// The sessions whose cassettes are being closed, so that all of them can be hastened.
private struct ClosingSessions: Sendable {
    private var sessions: [SessionName: OpenSession] = [:]
    private var isHastened = false

    mutating func begin(_ session: OpenSession) {
        self.sessions[session.name] = session
        if self.isHastened { session.recorder?.hasten() }
    }

    mutating func end(_ session: OpenSession) { self.sessions[session.name] = nil }

    mutating func hasten() {
        self.isHastened = true
        for session in self.sessions.values { session.recorder?.hasten() }
    }
}

/// The sessions of a server on one of its event loops.
///
/// Does not touch files. Not Sendable: lives on its event loop.
final class SessionLoop {
    let shared: ProxyLoop
    let directory = SessionDirectory()
    /// The context of a client of the shared port until it has named a session. It replays, dials and records nothing.
    let unauthenticated: ProxyContext

    init(shared: ProxyLoop, unauthenticated: ProxyContext) {
        self.shared = shared
        self.unauthenticated = unauthenticated
    }

    /// The event loop's part of a session, not in the directory yet.
    func makeContext(_ common: SharedSession) -> ProxyContext {
        let context = ProxyContext(shared: self.shared, common: common)
        context.listens(at: self.unauthenticated.address)
        return context
    }
}

/// How a session server listens, and what its sessions may do.
public struct SessionServerConfiguration: Sendable {
    /// The shared port of all sessions. Its host has to be a loopback address.
    public var host: String
    public var port: Int
    public var folder: CassetteFolder
    public var durability: ProxyConfiguration.Durability
    public var diskFullPolicy: ProxyConfiguration.DiskFullPolicy
    public var limits: ProxyLimits
    /// nil passes tunnels through unread.
    public var tls: TLSSettings?
    /// The proxies through which origins are reached.
    public var chain = UpstreamChain()
    /// The settings for all sessions with a cassette, given its path. Those of an order are applied over them.
    public var settings: @Sendable (_ path: String) -> RunSettings
    /// The value of an environment variable that a session names as a secret.
    public var secret: @Sendable (_ name: String) -> [UInt8]?
    /// The program's version, for the heads of cassettes.
    public var version: String
    /// What clients need to reach and trust a session's proxy, given its URL; nil tells them nothing.
    package var client: (@Sendable (_ proxy: String) -> SessionClientSettings)?
    /// Creates the page of a session; nil if sessions have none.
    package var page: (@Sendable (ShownSession) throws -> SessionPage)?
    /// The event loops that serve the connections.
    public var loops: EventLoopProvider
    /// Receives events for debugging a run; silent by default. Its level is read at the start.
    public var logger: Logger

    public init(
        host: String = "127.0.0.1", port: Int = 0, folder: CassetteFolder, durability: ProxyConfiguration.Durability = .normal,
        diskFullPolicy: ProxyConfiguration.DiskFullPolicy = .pass, limits: ProxyLimits = ProxyLimits(), tls: TLSSettings? = nil,
        settings: @escaping @Sendable (_ path: String) -> RunSettings = { _ in RunSettings() },
        secret: @escaping @Sendable (_ name: String) -> [UInt8]? = { _ in nil }, version: String,
        loops: EventLoopProvider = .standard, logger: Logger = ProxyConfiguration.silent
    ) {
        self.host = host
        self.port = port
        self.folder = folder
        self.durability = durability
        self.diskFullPolicy = diskFullPolicy
        self.limits = limits
        self.tls = tls
        self.settings = settings
        self.secret = secret
        self.version = version
        self.loops = loops
        self.logger = logger
    }
}

/// What a client of a session needs: the environment for programs, and files for clients that are configured by hand.
package struct SessionClientSettings: Sendable {
    /// Names and values, as passed to a command after `--`.
    package var environment: [(name: String, value: String)]
    /// Names with paths or values: `bundle`, `java`, `javaPassword`, `authority`.
    package var trust: [(name: String, value: String)]

    package init(environment: [(name: String, value: String)], trust: [(name: String, value: String)]) {
        self.environment = environment
        self.trust = trust
    }
}

/// Inspecting and ending sessions.
extension SessionServer {
    /// The current state of a session.
    ///
    /// - Throws: `SessionError`.
    func report(on name: SessionName) throws -> SessionReport {
        try self.registry.withLock { try $0.session(name) }.report(isDetailed: true)
    }

    /// Replaces the traffic rules of a session.
    func modify(_ name: SessionName, _ modification: SessionModification) throws -> SessionReport {
        let session = try self.registry.withLock { try $0.session(name) }
        session.modify(modification, on: self.loops.first)
        return session.report()
    }

    /// The reports of all open sessions, in the order of their start.
    func reports() -> [SessionReport] {
        self.registry.withLock { $0.open }.map { $0.report() }
    }

    /// Refuses new clients, lets exchanges in flight end within the grace period, and closes the cassette.
    ///
    /// - Parameter keepsOld: keeps a cassette that the recording would replace, and leaves the recording next to it.
    /// - Throws: `SessionError`.
    func end(_ name: SessionName, keepsOld: Bool) throws -> SessionReport {
        let session = try self.registry.withLock { try $0.beginClosing(name) }
        try? self.beginEnd(session).wait()
        let report = self.close(session, keepsOld: keepsOld)
        self.registry.withLock { $0.closed(name) }
        return report
    }

    /// Succeeds when the session has no clients left.
    func beginEnd(_ session: OpenSession) -> EventLoopFuture<Void> {
        let sessionLoops = self.sessionLoops
        let ownPorts = self.loops.shared.ownPorts
        let closed = session.listener?.close().flatMapErrorThrowing { _ in } ?? self.loops.first.makeSucceededVoidFuture()
        return closed.hop(to: self.loops.first).flatMap {
            // On each loop, before the session stops there.
            sessionLoops.execute { $0.directory.remove(session.name) }
            for port in [session.port, session.parts.page?.port].compactMap({ $0 }) { ownPorts.remove(port) }
            return session.common.stop(session.contexts)
        }
    }

    /// Closes the cassette of a session without clients and logs its result.
    func close(_ session: OpenSession, keepsOld: Bool, searching: (_ left: Int) -> Void = { _ in }) -> SessionReport {
        self.closings.withLock { $0.begin(session) }
        let report = session.close(keepsOld: keepsOld, searching: searching)
        self.closings.withLock { $0.end(session) }
        let log = self.loops.shared.log
        log.sessionEnded(report)
        if let recorder = report.recorder {
            if recorder.lost > 0 { log.recorderProblem(lost: recorder.lost, session: session.name) }
            if !recorder.leaks.isEmpty { log.secretsLeft(recorder.leaks.count, session: session.name) }
        }
        return report
    }
}
