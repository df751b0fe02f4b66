internal import NIOCore
internal import NIOPosix
internal import Platform
internal import TapeExchange
internal import TapeIsolation

/// A port to which the proxy's clients connect.
package enum ProxyListener {
    /// How many connections wait to be accepted.
    private static let backlog: Int32 = 4096

    /// Binds, and makes every event loop refuse to dial the bound address.
    ///
    /// One loop accepts connections and assigns them to all loops in turn. With a socket for each loop (SO_REUSEPORT), the kernel would
    /// choose by a hash: a few connections could share one loop, starting a second proxy on the same port would not fail, and macOS would
    /// give all connections to one socket.
    ///
    /// - Parameters:
    ///   - interfaces: the machine's own addresses.
    ///   - session: the context in which connections begin. It is told its address.
    static func bind(
        host: String, port: Int, interfaces: [IPAddress], on loops: ServerLoops, session: PerLoop<ProxyContext>,
        sessionGate: PerLoop<SessionGate>
    ) -> EventLoopFuture<any Channel> {
        let shared = loops.shared
        let first = loops.first
        var bootstrap = self.bootstrap(loops, session: session, sessionGate: sessionGate)
        #if os(Linux)
        // For connections redirected by TPROXY, which keep an address other than this port's.
        if shared.transparent?.mayMark == true {
            bootstrap = bootstrap.serverChannelOption(host.contains(":") ? Transparent.transparent6 : Transparent.transparent4, value: 1)
        }
        #endif
        return bootstrap.serverChannelOption(.socketOption(.so_reuseaddr), value: 1).bind(host: host, port: port)
            .map { channel in
                // Still in the same tick as the bind: no connection has been accepted yet, and each loop learns the address before its
                // first one.
                let port = channel.localAddress?.port ?? port
                if let own = channel.localAddress.flatMap({ IPAddress($0) }) {
                    shared.ownPorts.add(LoopRule(listeningOn: own, port: port, interfaces: interfaces))
                }
                session.value(on: first).listens(on: host, port: port)
                session.execute { $0.listens(on: host, port: port) }
                return channel
            }
    }

    /// Accepts connections on a socket that listens already.
    ///
    /// - Parameters:
    ///   - descriptor: owned by the channel from now on.
    ///   - isolation: nil if the socket is the proxy's own port; otherwise its connections were made to other addresses.
    static func adopt(
        _ descriptor: Int32, isolation: Isolation?, on loops: ServerLoops, session: PerLoop<ProxyContext>,
        sessionGate: PerLoop<SessionGate>
    ) -> EventLoopFuture<any Channel> {
        self.bootstrap(loops, session: session, sessionGate: sessionGate, isolation: isolation).withBoundSocket(descriptor)
            // NIO has shortened the queue to its default. A program may open more connections at once.
            .map { channel in
                _ = listen(descriptor, Self.backlog)
                return channel
            }
    }

    private static func bootstrap(
        _ loops: ServerLoops, session: PerLoop<ProxyContext>, sessionGate: PerLoop<SessionGate>, isolation: Isolation? = nil
    ) -> ServerBootstrap {
        let shared = loops.shared
        return ServerBootstrap(group: loops.first, childGroup: loops.group)
            .serverChannelOption(.backlog, value: Self.backlog)
            .serverChannelInitializer { channel in
                // When descriptors run out, this waits a second before accepting again instead of spinning.
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(AcceptBackoffHandler()) }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                let id = shared.nextConnection()
                if shared.log.isDebug {
                    shared.log.connectionAccepted(id, from: channel.remoteAddress)
                    channel.closeFuture.whenComplete { _ in shared.log.connectionClosed(id) }
                }
                return channel.eventLoop.makeCompletedFuture {
                    let loop = channel.eventLoop
                    // A group may return a loop that its iterator does not list. Such a connection is closed.
                    guard let proxy = session.find(on: loop) else { throw ChannelError.inappropriateOperationForState }
                    try channel.pipeline.syncOperations.addHandler(
                        HTTP1ClientConnection(
                            proxy: proxy, sessionGate: sessionGate.value(on: loop), id: id, isolation: isolation))
                }
            }
    }

    /// An address of this machine that others can reach: IPv4 if there is one, because it is shorter.
    package static func outsideAddress() -> String? {
        let addresses = ((try? System.enumerateDevices()) ?? []).compactMap(\.address).filter { address in
            guard let ip = IPAddress(address), !ip.isLoopback, !ip.isUnspecified else { return false }
            // A link-local address is useless without its interface (RFC 4291, 2.5.6).
            return ip.bytes.count == 4 || ip.bytes[0] != 0xFE
        }
        return (addresses.first { $0.protocol == .inet } ?? addresses.first)?.ipAddress
    }

    /// The machine's own addresses.
    static func interfaces() -> [IPAddress] {
        (try? System.enumerateDevices().compactMap { $0.address.flatMap { IPAddress($0) } }) ?? []
    }
}
