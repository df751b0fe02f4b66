import NIOCore
import NIOEmbedded
import Testing
@testable import TapeProxy

@Suite struct ClientHandlerClosingTests {
    private let channel = EmbeddedChannel()
    private let handler: ClientHandler

    init() throws {
        self.handler = ClientHandler(proxy: try EmbeddedProxy.context(self.channel.embeddedEventLoop))
        try self.channel.pipeline.syncOperations.addHandler(self.handler)
        try self.channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
    }

    @Test func whatIsWrittenLeavesAtTheEndOfTheTurn() throws {
        self.handler.write(ByteBuffer(string: "one "))
        self.handler.flush()
        self.handler.write(ByteBuffer(string: "two"))
        #expect(try self.channel.readOutbound(as: ByteBuffer.self) == nil)
        self.channel.embeddedEventLoop.run()
        #expect(try self.channel.readOutbound(as: ByteBuffer.self) == ByteBuffer(string: "one "))
        #expect(try self.channel.readOutbound(as: ByteBuffer.self) == ByteBuffer(string: "two"))
    }

    @Test func betweenTwoRequestsAConnectionIsClosedAtOnce() {
        self.handler.stop()
        #expect(!self.channel.isActive)
    }

    @Test func aCloseBehindWhatWasWrittenLetsItOut() throws {
        self.handler.write(ByteBuffer(string: "last words"))
        self.handler.closeAfterFlush()
        #expect(try self.channel.readOutbound(as: ByteBuffer.self) == ByteBuffer(string: "last words"))
        self.channel.embeddedEventLoop.run()
        #expect(!self.channel.isActive)
    }

    @Test func behindARefusalNothingIsAnsweredAnyMore() throws {
        try self.channel.writeInbound(ByteBuffer(string: "GET /\r\n\r\n"))
        self.channel.embeddedEventLoop.run()
        let answer = try #require(try self.channel.readOutbound(as: ByteBuffer.self))
        #expect(String(buffer: answer).hasPrefix("HTTP/1.1 400 "))
        _ = try? self.channel.writeInbound(ByteBuffer(string: "GET / HTTP/1.1\r\nHost: h\r\n\r\n"))
        self.channel.embeddedEventLoop.run()
        #expect(try self.channel.readOutbound(as: ByteBuffer.self) == nil)
    }
}
