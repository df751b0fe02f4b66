internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// The origin's listener, on loopback only.
///
/// Does not know what the answers are: `Routes` does.
struct OriginServer: Sendable {
    private let channel: any Channel
    let port: Int

    var url: String { "http://127.0.0.1:\(self.port)" }

    /// Listens on a port of 127.0.0.1; 0 picks a free one.
    static func start(on group: any EventLoopGroup, port: Int = 0) throws -> OriginServer {
        let routes = try Routes()
        let channel = try ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try Self.configure(channel.pipeline.syncOperations, routes: routes)
                }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .bind(host: "127.0.0.1", port: port)
            .wait()
        guard let port = channel.localAddress?.port else {
            throw OriginError(message: "the listener has no local port; check that 127.0.0.1 is up")
        }
        return OriginServer(channel: channel, port: port)
    }

    static func configure(_ pipeline: ChannelPipeline.SynchronousOperations, routes: Routes) throws {
        try pipeline.configureHTTPServerPipeline()
        try pipeline.addHandler(OriginHandler(routes: routes))
    }

    func stop() throws {
        try self.channel.close().wait()
    }
}
