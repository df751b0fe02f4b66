import Testing
@testable import TapeProxy

@Suite struct ConnectExchangeTests {
    private func connect(_ authority: String) -> String { "CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\n" }

    @Test func bytesRightAfterTheHeadReachTheOrigin() throws {
        let origin = try RawOrigin { connection in
            try connection.expect("\u{16}\u{3}\u{1} hello")
            try connection.send("hello yourself")
            try connection.expectEnd()
            try connection.send(" and goodbye")
        }
        let proxy = try RunningProxy()
        let client = try proxy.connect()
        try client.send(self.connect(origin.authority) + "\u{16}\u{3}\u{1} hello")
        try client.expect("HTTP/1.1 200 Connection established\r\n\r\nhello yourself")
        client.closeOutput()
        try client.expect(" and goodbye")
        try client.expectEnd()
        origin.finish()
        #expect(proxy.server.counts.tunnels == 1)
        // Bytes in a blind tunnel are not recorded.
        #expect(try proxy.recorded().isEmpty)
    }

    @Test func aMegabyteGoesBothWaysAtOnce() throws {
        let up = [UInt8](repeating: 1, count: 1 << 20)
        let down = [UInt8](repeating: 2, count: 1 << 20)
        let origin = try RawOrigin { connection in
            guard try connection.read(count: up.count) == up else { throw RawError("other bytes came") }
            try connection.send(down)
        }
        let proxy = try RunningProxy()
        let client = try proxy.connect()
        try client.send(self.connect(origin.authority))
        try client.expect("HTTP/1.1 200 Connection established\r\n\r\n")
        try client.send(up)
        #expect(try client.readToEnd().bytes == down)
        origin.finish()
    }

    @Test func aTunnelToAClosedPortIsA502() throws {
        let origin = try RawOrigin()
        origin.stop()
        let proxy = try RunningProxy()
        let answer = try proxy.ask(self.connect(origin.authority))
        #expect(answer.hasPrefix("HTTP/1.1 502 Bad Gateway\r\nWiretape-Error: refused\r\n"))
        #expect(proxy.session.verdict().forwarded == 0 && proxy.session.verdict().unreached == 1)
    }

    @Test func aTunnelToTheProxyItselfIsALoop() throws {
        let proxy = try RunningProxy()
        let answer = try proxy.ask(self.connect(proxy.server.address))
        #expect(answer.hasPrefix("HTTP/1.1 508 Loop Detected\r\nWiretape-Error: loop\r\n"))
        #expect(proxy.session.verdict().forwarded == 0 && proxy.session.verdict().unreached == 1)
    }

    @Test func aReplayOpensNoTunnel() throws {
        let origin = try RawOrigin()
        let proxy = try RunningProxy()
        try proxy.stop()
        let replay = try RunningProxy(.none, in: proxy.folder)
        let client = try replay.connect()
        try client.send(self.connect(origin.authority))
        #expect(
            String(decoding: try client.readMessage(), as: UTF8.self).hasPrefix("HTTP/1.1 424 Not In Cassette\r\nWiretape-Error: miss\r\n"))
        #expect(origin.accepted == 0)
    }
}
