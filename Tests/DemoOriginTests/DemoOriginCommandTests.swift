@testable import DemoOrigin
import NIOCore
import NIOPosix
import Testing

struct OriginServerTests {
    /// Keeps what a connection receives until the other side closes it.
    final class Collector: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private var received = ByteBuffer()
        private let result: EventLoopPromise<ByteBuffer>

        init(_ result: EventLoopPromise<ByteBuffer>) { self.result = result }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var part = self.unwrapInboundIn(data)
            self.received.writeBuffer(&part)
        }

        func channelInactive(context: ChannelHandlerContext) { self.result.succeed(self.received) }
    }

    @Test func listensOnLoopbackUntilItIsStopped() throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let server = try OriginServer.start(on: group)
        #expect(server.url == "http://127.0.0.1:\(server.port)")

        let result = group.next().makePromise(of: ByteBuffer.self)
        let client = try ClientBootstrap(group: group)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Collector(result)) }
            }
            .connect(host: "127.0.0.1", port: server.port).wait()
        let request = ByteBuffer(string: "GET /stream HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        try client.writeAndFlush(request).wait()
        let text = String(buffer: try result.futureResult.wait())
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(text.hasSuffix("f\r\ndata: piece 5\n\n\r\n0\r\n\r\n"))

        try server.stop()
        #expect(throws: (any Error).self) {
            try ClientBootstrap(group: group).connect(host: "127.0.0.1", port: server.port).wait()
        }
        try group.syncShutdownGracefully()
    }
}
