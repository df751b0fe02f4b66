internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import Platform

/// Starts the demo's origin server on a free loopback port, or the one given, and runs it until SIGTERM or SIGINT: DemoOrigin [PORT]
@main
enum DemoOriginCommand {
    static func main() throws {
        var stopSignals = sigset_t()
        sigemptyset(&stopSignals)
        sigaddset(&stopSignals, SIGTERM)
        sigaddset(&stopSignals, SIGINT)
        // Blocked before the first thread starts, so that every thread inherits the mask and only sigwait receives the signals.
        pthread_sigmask(SIG_BLOCK, &stopSignals, nil)

        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let arguments = CommandLine.arguments.dropFirst()
        guard let port = UInt16(arguments.first ?? "0"), arguments.count <= 1 else {
            throw OriginError(message: "give a port from 0 to 65535 or no argument, not \"\(arguments.joined(separator: " "))\"")
        }
        let server = try OriginServer.start(on: group, port: Int(port))
        print(server.url)
        fflush(nil)

        var received: Int32 = 0
        sigwait(&stopSignals, &received)
        try server.stop()
        try group.syncShutdownGracefully()
    }
}

/// The origin's listener, on loopback only. `Routes` makes the answers.
struct OriginServer: Sendable {
    private let channel: any Channel
    let port: Int

    var url: String { "http://127.0.0.1:\(self.port)" }

    /// Listens on a port of 127.0.0.1. 0 picks a free one.
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

/// Why the origin could not start.
struct OriginError: Error, Hashable, Sendable {
    /// What is wrong and what to do next.
    var message: String
}
