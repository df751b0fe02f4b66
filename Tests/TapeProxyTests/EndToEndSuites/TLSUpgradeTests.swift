import CassetteModel
import Testing
@testable import TapeProxy

/// A connection inside TLS whose origin changes protocols, as WebSockets do (RFC 6455, 4).
@Suite struct TLSUpgradeTests {
    private static let switching = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\n"

    private let scene: TLSScene

    init() throws { self.scene = try TLSScene() }

    private func upgrade(_ origin: RawOrigin, _ proxy: RunningProxy) throws -> TLSStream {
        let stream = try self.scene.secure(proxy.connect(), to: origin.authority)
        try stream.send(TLSScene.request("GET", "/chat", "Connection: Upgrade", "Upgrade: chat"))
        try stream.expect(Self.switching)
        return stream
    }

    @Test func bytesPassBothWaysAndAreCounted() throws {
        let origin = try RawOrigin(
            self.scene.origin().plays { stream in
                try stream.expectRequest("GET /chat")
                try stream.send(Self.switching + "hello at once")
                try stream.expect("ping")
                try stream.send("pong")
                // The client has ended its side; this side continues.
                try stream.expectEnd()
                try stream.send("late words")
            })
        let proxy = try self.scene.proxy()
        let stream = try self.upgrade(origin, proxy)
        try stream.expect("hello at once")
        try stream.send("ping")
        try stream.expect("pong")
        try stream.sayGoodbye()
        let (rest, end) = try stream.readToEnd()
        #expect(String(decoding: rest, as: UTF8.self) == "late words")
        #expect(end == .closed, "the origin said goodbye, so the client has to hear it")
        origin.finish()
        let recorded = try #require(try proxy.recorded().first)
        #expect(recorded.response?.status == 101)
        #expect(recorded.tunnel == TunnelCounts(sent: 4, received: 27))
        #expect(recorded.outcome == .complete)
        #expect(recorded.connection?.tls?.version == "TLSv1.3")
    }

    @Test func anOriginThatEndsFirstStillReceivesFromTheClient() throws {
        let origin = try RawOrigin(
            self.scene.origin().plays { stream in
                try stream.expectRequest("GET /chat")
                try stream.send(Self.switching + "bye")
                try stream.sayGoodbye()
                try stream.expect("last words")
                try stream.expectEnd()
            })
        let proxy = try self.scene.proxy()
        let stream = try self.upgrade(origin, proxy)
        try stream.expect("bye")
        try stream.expectEnd()
        try stream.send("last words")
        stream.closeOutput()
        origin.finish()
    }

    @Test func anOriginThatBreaksOffIsNotAClosedOne() throws {
        let origin = try RawOrigin(
            self.scene.origin().plays { stream in
                try stream.expectRequest("GET /chat")
                try stream.send(Self.switching + "part")
                stream.cutOutput()
                _ = try stream.readToEnd()
            })
        let proxy = try self.scene.proxy()
        let stream = try self.upgrade(origin, proxy)
        try stream.expect("part")
        #expect(try stream.readToEnd().end == .truncated)
        stream.close()
        origin.finish()
    }
}
