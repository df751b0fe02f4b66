internal import NIOCore
internal import NIOPosix
internal import Platform
internal import TapeBytes
internal import TapeExchange

/// A port that clients of the proxy connect to.
enum ProxyListener {
    /// Binds, and makes every event loop refuse to dial the bound address.
    ///
    /// One loop accepts, and assigns connections to all loops in turn. With a socket for each loop (SO_REUSEPORT) the kernel would choose
    /// by a hash: a few connections could share one loop, a second proxy on the same port would be no error, and macOS gives all
    /// connections to one socket.
    ///
    /// - Parameters:
    ///   - interfaces: the machine's own addresses.
    ///   - session: the context that connections start with; it is told its address.
    static func bind(
        host: String, port: Int, interfaces: [IPAddress], on loops: ServerLoops, session: PerLoop<ProxyContext>,
        sessionGate: PerLoop<SessionGate>
    ) -> EventLoopFuture<any Channel> {
        let shared = loops.shared
        let first = loops.first
        return ServerBootstrap(group: first, childGroup: loops.group)
            .serverChannelOption(.backlog, value: 4096)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { channel in
                // When descriptors run out, this accepts again after a second instead of spinning.
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
                    // A group may return a loop that its iterator does not list: such a connection is closed.
                    guard let proxy = session.find(on: loop) else { throw ChannelError.inappropriateOperationForState }
                    try channel.pipeline.syncOperations.addHandler(
                        HTTP1ClientConnection(proxy: proxy, sessionGate: sessionGate.value(on: loop), id: id))
                }
            }
            .bind(host: host, port: port)
            .map { channel in
                // Still in the tick of the bind: no connection has been accepted yet, and each loop learns the address before its first one.
                let port = channel.localAddress?.port ?? port
                if let own = channel.localAddress.flatMap({ IPAddress($0) }) {
                    shared.ownPorts.add(LoopRule(listeningOn: own, port: port, interfaces: interfaces))
                }
                session.value(on: first).listens(on: host, port: port)
                session.execute { $0.listens(on: host, port: port) }
                return channel
            }
    }

    /// The machine's own addresses.
    static func interfaces() -> [IPAddress] {
        (try? System.enumerateDevices().compactMap { $0.address.flatMap { IPAddress($0) } }) ?? []
    }
}

/// Tells whether listening on a host lets in nobody but this machine.
enum LoopbackHost {
    /// Loopback addresses in their usual notation, and `localhost` (RFC 6761, 6.3); no other name, whatever it resolves to.
    static func contains(_ host: String) -> Bool {
        host.lowercased() == "localhost" || IPAddress(host)?.isLoopback == true
    }
}

/// The ports that this process listens on, which no event loop of it dials.
final class OwnPorts: Sendable {
    private let rules = Guarded<[Int: LoopRule]>([:])

    /// What would go there is a loop, under every spelling of the address.
    func add(_ rule: LoopRule) { self.rules.withLock { $0[rule.port] = rule } }

    /// The port may become an origin's.
    func remove(_ port: Int) { self.rules.withLock { $0[port] = nil } }

    /// Nil if the port is none of ours.
    func rule(for port: Int) -> LoopRule? { self.rules.withLock { $0[port] } }
}

/// How many files and sockets this process may open.
enum OpenFileLimit {
    /// Descriptors kept for the cassette, its bodies and the event loop.
    static let reserve = 64

    /// As many client connections as are wanted and possible: a forwarded exchange takes a connection on either side.
    static func connections(_ wanted: Int) -> Int {
        max(16, min(wanted, (self.raise() - self.reserve) / 2))
    }

    /// Raises the soft limit to the hard one and returns what is allowed then.
    static func raise() -> Int {
        var limit = rlimit()
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        guard getrlimit(resource, &limit) == 0 else { return 256 }
        if limit.rlim_cur < limit.rlim_max {
            var raised = limit
            // The kernel refuses "unlimited" on macOS: OPEN_MAX is what it takes.
            raised.rlim_cur = min(limit.rlim_max, 65_536)
            if setrlimit(resource, &raised) == 0 { limit = raised }
        }
        return Int(min(limit.rlim_cur, 65_536))
    }
}
