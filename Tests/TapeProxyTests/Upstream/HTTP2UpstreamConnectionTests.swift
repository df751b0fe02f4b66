import CassetteModel
import NIOCore
import NIOEmbedded
import TapeExchange
import TapeHTTP2
import Testing
@testable import TapeProxy

/// A shared connection to an origin, which is an HTTP/2 server in memory.
@Suite struct HTTP2UpstreamConnectionTests {
    /// Notes the events of one exchange.
    private final class Exchange: UpstreamExchange {
        var log: [String] = []

        func originInterim(_ head: ResponseHead) { self.log.append("\(head.status)") }
        func originHead(_ head: ResponseHead, framing: BodyFraming) { self.log.append("\(head.status)") }
        func originBody(_ piece: BodyPiece) { self.log.append(String(buffer: piece.payload)) }
        func originEnded(readsOn: Bool) { self.log.append("ended") }
        func originSwitched(_ head: ResponseHead, to connection: UpstreamConnection, rest: ByteBuffer) {}
        func originReadComplete() {}
        func originFailed(_ failure: Failure, isUnprocessed: Bool) { self.log.append("\(failure.kind) \(isUnprocessed)") }
        func originWritabilityChanged(_ isWritable: Bool) {}
    }

    private final class Scene {
        let channel = EmbeddedChannel()
        let origin: HTTP2Connection
        let upstream: HTTP2UpstreamConnection
        private(set) var heard: [HTTP2Event] = []

        init(firstStream: Int32) throws {
            let route = UpstreamRoute(Origin(scheme: .http, host: "h"), protocols: ["h2c"])
            let flushes = FlushQueue(loop: self.channel.embeddedEventLoop)
            let clock = EventClock(loop: self.channel.embeddedEventLoop)
            let connection = UpstreamConnection(route: route, id: 1, flushes: flushes, clock: clock)
            try self.channel.pipeline.syncOperations.addHandler(connection)
            try self.channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
            connection.opened(self.channel, timing: DialTiming(dns: nil, connect: 1))
            var settings = HTTP2Connection.Settings()
            settings.firstStream = firstStream
            self.upstream = try HTTP2UpstreamConnection(connection, flushes: flushes, clock: clock, settings: settings)
            self.origin = try HTTP2Connection(.server)
            try self.settle()
        }

        func ask(_ exchange: Exchange) throws {
            let stream = self.upstream.makeStream()
            stream.take(exchange)
            var head = RequestHead(method: "GET", target: "/", version: .http2, fields: HeaderFields())
            head.authority = "h"
            stream.send(head, target: .origin("/"), framing: .none)
            stream.flush()
            try self.settle()
        }

        /// Moves bytes until neither side has any.
        func settle() throws {
            while true {
                self.channel.embeddedEventLoop.run()
                var moved = false
                while let bytes = try self.channel.readOutbound(as: ByteBuffer.self) {
                    self.heard += try self.origin.receive(bytes)
                    moved = true
                }
                let (bytes, _) = try self.origin.takeOutput()
                if bytes.readableBytes > 0, self.channel.isActive {
                    try self.channel.writeInbound(bytes)
                    moved = true
                }
                if !moved { return }
            }
        }

        func respond(_ id: Int32) throws {
            self.origin.respond(
                id, HTTP2Fields(ResponseHead(version: .http2, status: 204, reason: [], fields: HeaderFields())), hasBody: false)
            try self.settle()
        }
    }

    @Test func whenItsNumbersAreUsedUpItTakesNoMoreAndClosesAfterTheLastAnswer() throws {
        let scene = try Scene(firstStream: .max - 2)
        let (first, last, late) = (Exchange(), Exchange(), Exchange())
        try scene.ask(first)
        #expect(scene.upstream.isUsable)
        try scene.ask(last)
        #expect(!scene.upstream.isUsable && scene.channel.isActive)
        #expect(scene.heard.contains { if case .goAway(_, .noError) = $0 { true } else { false } })
        // An exchange that already had its stream is sent elsewhere.
        try scene.ask(late)
        #expect(late.log == ["reset true"])
        try scene.respond(.max - 2)
        #expect(first.log == ["204", "ended"] && scene.channel.isActive)
        try scene.respond(.max)
        #expect(last.log == ["204", "ended"] && !scene.channel.isActive)
    }

    @Test func itSaysGoodbyeWhenItIsNotNeededAnyMore() throws {
        let scene = try Scene(firstStream: 1)
        scene.upstream.endSoon()
        try scene.settle()
        #expect(scene.heard.contains { if case .goAway(_, .noError) = $0 { true } else { false } })
        #expect(!scene.channel.isActive)
    }
}
