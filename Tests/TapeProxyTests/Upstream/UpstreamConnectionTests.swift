import CassetteModel
import NIOCore
import NIOEmbedded
import TapeExchange
import Testing
@testable import TapeProxy

@Suite struct UpstreamConnectionTests {
    private final class Owner: UpstreamConnectionOwner {
        var log: [String] = []

        func upstreamRead(_ buffer: ByteBuffer) { self.log.append(String(buffer: buffer)) }
        func upstreamReadComplete() { self.log.append("flush") }
        func upstreamEnded() { self.log.append("ended") }
        func upstreamFailed(_ failure: Failure) { self.log.append(failure.kind.rawValue) }
        func upstreamWritabilityChanged(_ isWritable: Bool) { self.log.append("writable \(isWritable)") }
    }

    private struct Broken: Error {}

    private func connected() throws -> (handler: UpstreamConnection, channel: EmbeddedChannel, owner: Owner) {
        let channel = EmbeddedChannel()
        let handler = UpstreamConnection(route: UpstreamRoute(Origin(scheme: .http, host: "h")), id: 1, loop: channel.embeddedEventLoop)
        try channel.pipeline.syncOperations.addHandler(handler)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
        handler.opened(channel, timing: DialTiming(dns: nil, connect: 1))
        let owner = Owner()
        handler.take(owner)
        return (handler, channel, owner)
    }

    @Test func theOwnerGetsTheEvents() throws {
        let (handler, channel, owner) = try self.connected()
        #expect(handler.isOpen)
        try channel.writeInbound(ByteBuffer(string: "bytes"))
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(owner.log == ["bytes", "flush", "ended"])
        handler.write(ByteBuffer(string: "out"))
        #expect(try channel.readOutbound(as: ByteBuffer.self) == nil)
        handler.flush()
        #expect(try channel.readOutbound(as: ByteBuffer.self) == nil)
        // It is sent with all others, at the end of the turn.
        channel.embeddedEventLoop.run()
        #expect(try channel.readOutbound(as: ByteBuffer.self) == ByteBuffer(string: "out"))
    }

    @Test func anErrorIsAResetAndClosesTheConnection() throws {
        let (handler, channel, owner) = try self.connected()
        channel.pipeline.fireErrorCaught(Broken())
        #expect(owner.log.first == "reset")
        #expect(!channel.isActive)
        #expect(!handler.isOpen)
    }

    /// Keeps written bytes until the peer accepts them.
    private final class Holding: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer
        private var held: [() -> Void] = []

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            self.held.append { context.write(data, promise: promise) }
        }

        func release(on channel: EmbeddedChannel) {
            for write in self.held { write() }
            channel.flush()
        }
    }

    @Test func bytesReceivedDuringAnOrderlyCloseDoNotCutIt() throws {
        let (handler, channel, _) = try self.connected()
        let holding = Holding()
        try channel.pipeline.syncOperations.addHandler(holding, position: .first)
        handler.write(ByteBuffer(string: "last words"))
        handler.closeAfterFlush(isCut: false)
        channel.pipeline.fireChannelRead(ByteBuffer(string: "too late"))
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(channel.isActive)
        holding.release(on: channel)
        channel.embeddedEventLoop.run()
        #expect(try channel.readOutbound(as: ByteBuffer.self) == ByteBuffer(string: "last words"))
        #expect(!channel.isActive)
    }

    @Test func aCloseOfOurOwnIsNotReported() throws {
        let (handler, channel, owner) = try self.connected()
        handler.close()
        #expect(owner.log.isEmpty)
        #expect(!channel.isActive)
    }
}
