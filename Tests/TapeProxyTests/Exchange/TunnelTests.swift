import CassetteModel
import CassetteStore
import TapeTestSupport
import Testing
@testable import TapeProxy

/// A connection whose origin changes protocols (RFC 9110, 7.8).
@Suite struct TunnelTests {
    private static let switching = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\n"

    private func upgrade(_ origin: RawOrigin) -> String { origin.request("GET", "/chat", "Connection: Upgrade", "Upgrade: chat") }

    @Test func bothDirectionsPassAndEndOneAfterTheOther() throws {
        let origin = try RawOrigin { connection in
            let head = try connection.expectRequest("GET /chat")
            guard head.contains("\r\nUpgrade: chat\r\n") else { throw RawError("Upgrade was not passed on") }
            try connection.send(Self.switching + "hello at once")
            try connection.expect("ping")
            try connection.send("pong")
            // The client has ended its side; this side continues.
            try connection.expectEnd()
            try connection.send("late words")
        }
        let proxy = try RunningProxy()
        let client = try proxy.connect()
        try client.send(self.upgrade(origin))
        try client.expect(Self.switching + "hello at once")
        try client.send("ping")
        try client.expect("pong")
        client.closeOutput()
        let (rest, end) = try client.readToEnd()
        #expect(String(decoding: rest, as: UTF8.self) == "late words")
        #expect(end == .closed)
        origin.finish()
        let recorded = try #require(try proxy.recorded().first)
        #expect(recorded.response?.status == 101)
        #expect(recorded.tunnel == TunnelCounts(sent: 4, received: 27))
        #expect(recorded.outcome == .complete)
    }

    @Test func anOriginThatEndsFirstStillReceivesFromTheClient() throws {
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /chat")
            try connection.send(Self.switching + "bye")
            connection.closeOutput()
            try connection.expect("last words")
            try connection.expectEnd()
        }
        let proxy = try RunningProxy()
        let client = try proxy.connect()
        try client.send(self.upgrade(origin))
        try client.expect(Self.switching + "bye")
        try client.expectEnd()
        try client.send("last words")
        client.closeOutput()
        origin.finish()
    }

    @Test func bytesRightAfterTheRequestGoThroughTheTunnel() throws {
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /chat")
            try connection.send(Self.switching)
            try connection.expect("early")
            try connection.send("heard")
        }
        let proxy = try RunningProxy()
        let client = try proxy.connect()
        try client.send(self.upgrade(origin) + "early")
        try client.expect(Self.switching + "heard")
        origin.finish()
    }

    @Test func aResetOnOneSideClosesTheOther() throws {
        let gate = Gate("the tunnel stands")
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /chat")
            try connection.send(Self.switching)
            try gate.wait()
            connection.reset()
        }
        let proxy = try RunningProxy()
        let client = try proxy.connect()
        try client.send(self.upgrade(origin))
        try client.expect(Self.switching)
        gate.open()
        _ = try client.readToEnd()
        origin.finish()
    }

    @Test func aReplayDoesNotPretendToOpenATunnel() throws {
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /chat")
            try connection.send(Self.switching)
        }
        let proxy = try RunningProxy()
        let client = try proxy.connect()
        try client.send(self.upgrade(origin))
        try client.expect(Self.switching)
        try client.expectEnd()
        client.close()
        origin.finish()
        try proxy.stop()
        let replay = try RunningProxy(.none, in: proxy.folder)
        let again = try replay.connect()
        try again.send(self.upgrade(origin))
        let answer = String(decoding: try again.readMessage(), as: UTF8.self)
        #expect(answer.hasPrefix("HTTP/1.1 424 ") && answer.contains("switched protocols"), "\(answer)")
        #expect(replay.session.verdict().misses == 1 && replay.session.verdict().reports.map(\.reason) == [.switchedProtocols(index: 0)])
        #expect(proxy.notices.lines.contains { $0.contains("switched protocols: what passed after that is not recorded") })
    }
}
