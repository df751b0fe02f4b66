internal import NIOCore
internal import NIOPosix
internal import TapeExchange

/// A port that clients of the proxy connect to.
enum ProxyListener {
    /// Binds, and has the event loop refuse to dial what is bound.
    ///
    /// - Parameters:
    ///   - interfaces: the machine's own addresses.
    ///   - session: where connections begin; told where it can be reached.
    static func bind(
        host: String, port: Int, interfaces: [IPAddress], session: NIOLoopBound<ProxyContext>, entrance: NIOLoopBound<Entrance>
    ) -> EventLoopFuture<any Channel> {
        ServerBootstrap(group: session.eventLoop)
            .serverChannelOption(.backlog, value: 4096)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { channel in
                // Out of descriptors: accept again in a second, in place of spinning.
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(AcceptBackoffHandler()) }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(HTTP1ClientConnection(proxy: session.value, entrance: entrance.value))
                }
            }
            .bind(host: host, port: port)
            .map { channel in
                // Still in the turn of the bind: no connection has been accepted yet.
                let port = channel.localAddress?.port ?? port
                if let own = channel.localAddress.flatMap({ IPAddress($0) }) {
                    session.value.dialer.listens(LoopRule(listeningOn: own, port: port, interfaces: interfaces))
                }
                session.value.listens(on: host, port: port)
                return channel
            }
    }

    /// The machine's own addresses.
    static func interfaces() -> [IPAddress] {
        (try? System.enumerateDevices().compactMap { $0.address.flatMap { IPAddress($0) } }) ?? []
    }
}
