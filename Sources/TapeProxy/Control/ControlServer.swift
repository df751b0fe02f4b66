public import LocalHTTP
internal import NIOCore
internal import NIOPosix
public import TapeBytes
internal import TapeExchange

/// The control API of a session server: HTTP on a loopback address, protected by a token.
///
/// Does not open or end sessions itself: see `SessionServer`. Runs on one of that server's event loops.
public final class ControlServer: Sendable {
    /// Threads that wait for the disk and for a session's clients to disconnect.
    private static let threadCount = 8

    /// The address that clients use: `127.0.0.1:7071`.
    public let address: String
    private let listener: any Channel
    private let threads: NIOThreadPool
    private let place: NIOLoopBound<ControlContextHolder>

    /// - Parameters:
    ///   - host: a loopback address, or `localhost`.
    ///   - port: 0 picks a free port.
    ///   - token: the token that clients must send.
    public static func start(
        for server: SessionServer, host: String = "127.0.0.1", port: Int = 0, token: Secret
    ) async throws(ProxyError) -> ControlServer {
        try await BlockingWork.run {
            Result { () throws(ProxyError) in try self.start(for: server, host: host, port: port, token: token) }
        }.get()
    }

    /// The same, for a thread that may block, such as a command's main thread. Never call it on an event loop or in a task.
    package static func start(
        for server: SessionServer, host: String = "127.0.0.1", port: Int = 0, token: Secret
    ) throws(ProxyError) -> ControlServer {
        guard LoopbackHost.contains(host) else {
            throw ProxyError(
                .remoteNotAllowed,
                "\"\(host)\" is not a loopback address: sessions can be controlled only from this machine. Use 127.0.0.1:0, for example.")
        }
        let threads = NIOThreadPool(numberOfThreads: Self.threadCount)
        threads.start()
        do {
            return try ControlServer(server, host: host, port: port, token: token, threads: threads)
        } catch {
            try? threads.syncShutdownGracefully()
            throw ProxyError(starting: error, host: host, port: port, option: "--control")
        }
    }

    private init(_ server: SessionServer, host: String, port: Int, token: Secret, threads: NIOThreadPool) throws {
        let sessionLoops = server.sessionLoops
        let loop = server.loops.first
        let interfaces = server.interfaces
        // The context needs the port, which is known only after binding. Connections are accepted in a later turn of the loop.
        let place = try loop.submit { NIOLoopBound(ControlContextHolder(), eventLoop: loop) }.wait()
        self.listener = try ServerBootstrap(group: loop)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(AcceptBackoffHandler()) }
            }
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard let control = place.value.control else { throw ChannelError.ioOnClosedChannel }
                    try channel.pipeline.syncOperations.addHandler(ControlHandler(control: control))
                }
            }
            .bind(host: host, port: port)
            .flatMapThrowing { channel in
                guard let own = channel.localAddress.flatMap({ IPAddress($0) }), own.isLoopback, let port = channel.localAddress?.port
                else {
                    throw ProxyError(.remoteNotAllowed, "\"\(host)\" does not resolve to a loopback address")
                }
                let shared = sessionLoops.value(on: loop).shared
                shared.server.ownPorts.add(LoopRule(listeningOn: own, port: port, interfaces: interfaces))
                place.value.control = ControlContext(
                    gate: LocalGate(token: token, port: port, server: .control), shared: shared, service: ControlService(server: server),
                    threads: threads)
                return channel
            }
            .wait()
        self.threads = threads
        self.place = place
        let bound = self.listener.localAddress?.port ?? port
        self.address = host.contains(":") ? "[\(host)]:\(bound)" : "\(host):\(bound)"
        server.loops.shared.log.controlStarted(self.address)
    }

    /// Refuses new requests. Requests in progress complete within the grace period of their sessions. Call this before stopping the server.
    public func stop() async {
        await BlockingWork.run { self.stop() }
    }

    /// The same, for a thread that may block. Never call it on an event loop or in a task.
    package func stop() {
        try? self.listener.close().wait()
        try? self.threads.syncShutdownGracefully()
        // After the answers, which the threads have already handed to the loop.
        try? self.place.eventLoop.submit { self.place.value.close() }.wait()
    }
}

/// Holds the context of a control API for its connections, once the API listens.
///
/// Not Sendable: lives on its event loop.
final class ControlContextHolder {
    var control: ControlContext?

    /// Closes all connections and drops the context.
    func close() {
        self.control?.close()
        self.control = nil
    }
}
