import NIOCore
import NIOEmbedded
import TapeExchange
import Testing
@testable import TapeProxy

@Suite struct GreetingTests {
    private final class Log { var events: [String] = [] }

    private let channel = EmbeddedChannel()
    private let log = Log()

    private func greeting() throws -> Greeting {
        let upstream = UpstreamConnection(
            route: UpstreamRoute(Origin(scheme: .http, host: "h")), id: 1, loop: self.channel.embeddedEventLoop)
        try self.channel.pipeline.syncOperations.addHandler(upstream)
        try self.channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 25)).wait()
        let log = self.log
        return Greeting(upstream) {
            log.events.append("came \(String(buffer: $0.bytes))")
        } ended: {
            log.events.append("ended")
        }
    }

    @Test func theFirstOctetsOfATurnAreToldOnce() throws {
        let greeting = try self.greeting()
        _ = greeting
        self.channel.pipeline.fireChannelRead(ByteBuffer(string: "220 "))
        self.channel.pipeline.fireChannelRead(ByteBuffer(string: "mail"))
        #expect(self.log.events.isEmpty)
        self.channel.pipeline.fireChannelReadComplete()
        try self.channel.writeInbound(ByteBuffer(string: " more"))
        #expect(self.log.events == ["came 220 mail"])
    }

    @Test func aTurnWithoutOctetsTellsNothing() throws {
        let greeting = try self.greeting()
        self.channel.pipeline.fireChannelReadComplete()
        greeting.upstreamWritabilityChanged(false)
        #expect(self.log.events.isEmpty)
    }

    @Test func anOriginThatLeavesIsToldOnce() throws {
        let greeting = try self.greeting()
        self.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        greeting.upstreamEnded()
        self.channel.pipeline.fireErrorCaught(ChannelError.ioOnClosedChannel)
        #expect(self.log.events == ["ended"])
    }

    @Test func whoeverForgetsItHearsNothing() throws {
        let greeting = try self.greeting()
        greeting.forget()
        try self.channel.writeInbound(ByteBuffer(string: "late"))
        greeting.upstreamEnded()
        #expect(self.log.events.isEmpty)
    }
}
