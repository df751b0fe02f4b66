import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import DemoOrigin

struct OriginHandlerTests {
    static func channel() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        try OriginServer.configure(channel.pipeline.syncOperations, routes: try Routes())
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        return channel
    }

    static func sent(_ channel: EmbeddedChannel) throws -> String {
        var text = ""
        while let buffer = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: buffer) }
        return text
    }

    @Test func answerHasALength() throws {
        let channel = try Self.channel()
        try channel.writeInbound(ByteBuffer(string: "GET /old HTTP/1.1\r\nHost: x\r\n\r\n"))
        let text = try Self.sent(channel)
        #expect(text.hasPrefix("HTTP/1.1 302 Found\r\n"))
        #expect(text.contains("Content-Length: 15\r\n"))
        #expect(text.hasSuffix("\r\n\r\nmoved to /pets\n"))
        #expect(channel.isActive)
        _ = try channel.finish()
    }

    @Test func streamIsChunkedOverTime() throws {
        let channel = try Self.channel()
        try channel.writeInbound(ByteBuffer(string: "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n"))
        let first = try Self.sent(channel)
        #expect(first.contains("transfer-encoding: chunked\r\n"))
        #expect(first.hasSuffix("\r\n\r\nf\r\ndata: piece 1\n\n\r\n"))
        for piece in 2...4 {
            channel.embeddedEventLoop.advanceTime(by: OriginHandler.pause)
            #expect(try Self.sent(channel) == "f\r\ndata: piece \(piece)\n\n\r\n")
        }
        channel.embeddedEventLoop.advanceTime(by: OriginHandler.pause)
        #expect(try Self.sent(channel) == "f\r\ndata: piece 5\n\n\r\n0\r\n\r\n")
        _ = try channel.finish()
    }

    @Test func streamStopsWhenTheClientLeaves() throws {
        let channel = try Self.channel()
        try channel.writeInbound(ByteBuffer(string: "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n"))
        channel.close(promise: nil)
        _ = try Self.sent(channel)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(try Self.sent(channel) == "")
    }

    @Test func oldClientGetsTheStreamInOnePieceAndAClosedConnection() throws {
        let channel = try Self.channel()
        try channel.writeInbound(ByteBuffer(string: "GET /stream HTTP/1.0\r\nHost: x\r\n\r\n"))
        let text = try Self.sent(channel)
        #expect(text.contains("Content-Length: 75\r\n"))
        #expect(text.hasSuffix("data: piece 5\n\n"))
        #expect(!channel.isActive)
    }

    @Test func headHasTheLengthWithoutTheBody() throws {
        let channel = try Self.channel()
        try channel.writeInbound(ByteBuffer(string: "HEAD /old HTTP/1.1\r\nHost: x\r\n\r\n"))
        let text = try Self.sent(channel)
        #expect(text.contains("Content-Length: 15\r\n"))
        #expect(text.hasSuffix("\r\n\r\n"))
        _ = try channel.finish()
    }

    @Test func answerWithoutContentHasNoLength() throws {
        let channel = try Self.channel()
        try channel.writeInbound(ByteBuffer(string: "DELETE /pets/2 HTTP/1.1\r\nHost: x\r\n\r\n"))
        let text = try Self.sent(channel)
        #expect(text.hasPrefix("HTTP/1.1 204 No Content\r\n"))
        #expect(!text.lowercased().contains("content-length"))
        #expect(!text.lowercased().contains("transfer-encoding"))
        _ = try channel.finish()
    }

    @Test func waitingClientIsToldToContinue() throws {
        let channel = try Self.channel()
        try channel.writeInbound(ByteBuffer(string: "PUT /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"))
        #expect(try Self.sent(channel) == "HTTP/1.1 100 Continue\r\n\r\n")
        try channel.writeInbound(ByteBuffer(string: "hi"))
        let text = try Self.sent(channel)
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(text.hasSuffix("\n\nhi"))
        _ = try channel.finish()
    }

    @Test func largeBodyIsRefused() throws {
        let channel = try Self.channel()
        let size = OriginHandler.bodyLimit + 1
        try channel.writeInbound(ByteBuffer(string: "PUT /echo HTTP/1.1\r\nHost: x\r\nContent-Length: \(size)\r\n\r\n"))
        try channel.writeInbound(ByteBuffer(repeating: 97, count: size))
        #expect(try Self.sent(channel).hasPrefix("HTTP/1.1 413 "))
        _ = try channel.finish()
    }

    @Test func garbageIsAnsweredWithAnErrorAndAClosedConnection() throws {
        let channel = try Self.channel()
        _ = try? channel.writeInbound(ByteBuffer(string: "\u{1}\u{2}\r\n\r\n"))
        #expect(try Self.sent(channel).hasPrefix("HTTP/1.1 400 "))
        #expect(!channel.isActive)
    }
}
