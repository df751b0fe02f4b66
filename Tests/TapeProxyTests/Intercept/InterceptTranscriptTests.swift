import CassetteModel
import NIOCore
import TapeExchange
import TapeTrust
import Testing

@testable import TapeProxy

/// A CONNECT that the proxy intercepts, in memory, as transcripts.
@Suite struct InterceptTranscriptTests {
    private static let connect = "CONNECT 192.0.2.1:443 HTTP/1.1\r\nHost: 192.0.2.1:443\r\n\r\n"
    private static let established = "client < HTTP/1.1 200 Connection established||"

    private func scene(_ change: (inout TLSSettings) -> Void = { _ in }) throws -> ExchangeScene {
        var settings = try TestAuthority().settings
        change(&settings)
        let tls = settings
        return try ExchangeScene { $0.tls = tls }
    }

    private func opened() throws -> ExchangeScene {
        let scene = try self.scene()
        scene.client(Self.connect)
        #expect(scene.heard() == [Self.established], "answered before anything is dialled")
        return scene
    }

    @Test(arguments: ["", "\r\n", "\r\n\r\n"]) func requestsInsideAClearTunnelAreRecorded(before: String) throws {
        let scene = try self.opened()
        scene.client(before + "GET /a HTTP/1.1\r\nHost: 192.0.2.1:443\r\n\r\n")
        #expect(scene.heard() == ["dial 192.0.2.1:443"])
        scene.connected()
        scene.origin(ForwardTranscriptTests.ok)
        #expect(scene.heard() == ["origin 1 < GET /a HTTP/1.1|Host: 192.0.2.1:443||", ForwardTranscriptTests.gotOK])
        #expect(scene.recorder.summary == ["GET 200 complete 2"])
    }

    @Test func lettersInATargetInsideATunnelAreForwardedAsTheyCame() throws {
        let scene = try self.opened()
        scene.client("GET /보리?q=é HTTP/1.1\r\nHost: 192.0.2.1:443\r\n\r\n")
        scene.connected()
        scene.origin(ForwardTranscriptTests.ok)
        #expect(
            scene.heard() == [
                "dial 192.0.2.1:443", "origin 1 < GET /보리?q=é HTTP/1.1|Host: 192.0.2.1:443||", ForwardTranscriptTests.gotOK,
            ])
        #expect(scene.recorder.exchanges.first?.interaction.request.url == "http://192.0.2.1:443/%EB%B3%B4%EB%A6%AC?q=%C3%A9")
    }

    @Test(arguments: 0..<10) func everythingBeforeAnInvalidChunkPassesATunnelHoweverItIsDivided(seed: Int) throws {
        let scene = try self.opened()
        scene.client("GET /a HTTP/1.1\r\nHost: 192.0.2.1:443\r\n\r\n")
        scene.connected()
        _ = scene.heard()
        let good = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n"
        for piece in ForwardTranscriptTests.divided(good + "zz\r\nevil", seed: seed) { scene.origin(piece) }
        let heard = scene.heard()
        let got = heard.filter { $0.hasPrefix("client < ") }.map { $0.dropFirst("client < ".count) }.joined()
        #expect(got.replacing("|", with: "\r\n") == good, "\(heard)")
        #expect(heard.contains("client closed") && heard.contains("origin 1 closed"))
    }

    @Test(arguments: ["GET a", "GET ?q", "get ftp://h/"])
    func anOddTargetIsRefusedAndNotPassedByUnread(request: String) throws {
        let scene = try self.opened()
        scene.client(request + " HTTP/1.1\r\nHost: h\r\n\r\n")
        let heard = scene.heard()
        #expect(heard.first?.hasPrefix("client < HTTP/1.1 400 Bad Request|Wiretape-Error: bad-request|") == true, "\(heard)")
        #expect(!heard.contains { $0.hasPrefix("dial") })
    }

    @Test(arguments: [
        "GET /a HTTP/1.1\r\nHost: other.test", "GET /a HTTP/1.1\r\nHost: 192.0.2.2:443", "GET /a HTTP/1.1\r\nHost: 192.0.2.1:444",
        "GET http://other.test/a HTTP/1.1\r\nHost: 192.0.2.1:443", "OPTIONS * HTTP/1.1\r\nHost: other.test",
    ])
    func aRequestForAnotherHostThanTheTunnelsIsMisdirected(request: String) throws {
        let scene = try self.opened()
        scene.client(request + "\r\n\r\n")
        let heard = scene.heard()
        #expect(heard.first?.hasPrefix("client < HTTP/1.1 421 Misdirected Request|Wiretape-Error: host|") == true, "\(heard)")
        #expect(!heard.contains { $0.hasPrefix("dial") })
        #expect(scene.recorder.exchanges.isEmpty)
        scene.client("GET /a HTTP/1.1\r\nHost: 192.0.2.1\r\n\r\n")
        #expect(scene.heard() == ["dial 192.0.2.1:443"])
    }

    @Test func anythingElseIsRelayedAsItCame() throws {
        let scene = try self.opened()
        scene.client("EHLO client.test\r\n")
        scene.connected()
        scene.origin("250 hello\r\n")
        #expect(scene.heard() == ["dial 192.0.2.1:443", "origin 1 < EHLO client.test|", "client < 250 hello|"])
        #expect(scene.recorder.exchanges.isEmpty)
        #expect(scene.proxy.common.totalCounts.tunnels == 1)
    }

    @Test func bytesReceivedWhileATunnelConnectsAreBounded() throws {
        let scene = try self.opened()
        scene.client("EHLO client.test\r\n")
        scene.client([UInt8](repeating: 120, count: 100_000))
        #expect(!scene.clientIsRead)
        scene.connected()
        #expect(scene.clientIsRead)
        #expect(scene.heard().last?.utf8.count ?? 0 > 100_000)
    }

    @Test func aSilentClientMayWaitForTheOriginsFirstWords() throws {
        let scene = try self.opened()
        scene.advance(3)
        #expect(scene.heard() == ["dial 192.0.2.1:443"])
        scene.connected()
        scene.origin("220 mail\r\n")
        scene.client("QUIT\r\n")
        #expect(scene.heard() == ["client < 220 mail|", "origin 1 < QUIT|"])
    }

    @Test func aSilentClientThatSpeaksHTTPAfterAllIsRead() throws {
        let scene = try self.opened()
        scene.advance(3)
        scene.connected()
        scene.client("GET /a HTTP/1.1\r\nHost: 192.0.2.1:443\r\n\r\n")
        #expect(scene.heard() == ["dial 192.0.2.1:443", "dial 192.0.2.1:443", "origin 1 closed"])
    }

    @Test func anEmptyLineIsNoReasonToWaitLonger() throws {
        let scene = try self.opened()
        scene.client("\r\n")
        scene.advance(3)
        #expect(scene.heard() == ["dial 192.0.2.1:443"])
    }

    @Test func aHostThatIsRefusedGetsNoTunnel() throws {
        let hosts = try HostPattern("192.0.2.1")
        let scene = try self.scene { $0.refused = [hosts] }
        scene.client(Self.connect)
        #expect(scene.heard().first?.hasPrefix("client < HTTP/1.1 403 Forbidden|Wiretape-Error: refused|") == true)
    }

    @Test func aHostThatIsPassedThroughIsDialledFirst() throws {
        let hosts = try HostPattern("192.0.2.1")
        let scene = try self.scene { $0.passthrough = [hosts] }
        scene.client(Self.connect + "early")
        #expect(scene.heard() == ["dial 192.0.2.1:443"])
        scene.connected()
        #expect(scene.heard() == [Self.established, "origin 1 < early"])
        scene.originEnds()
        scene.clientEnds()
        #expect(Set(scene.heard()) == ["client closed", "origin 1 closed"])
    }

    @Test func aTunnelThatCannotBeMadeIsA502() throws {
        let hosts = try HostPattern("192.0.2.1")
        let scene = try self.scene { $0.passthrough = [hosts] }
        scene.client(Self.connect)
        scene.refused()
        #expect(scene.heard().last?.hasPrefix("client < HTTP/1.1 502 Bad Gateway|Wiretape-Error: refused|") == true)
    }

    @Test func aClientThatLeavesDuringItsHelloIsNoExchange() throws {
        let scene = try self.opened()
        scene.client([0x16, 3, 1, 2, 0])
        scene.clientEnds()
        #expect(scene.heard() == ["client closed"])
        #expect(scene.recorder.exchanges.isEmpty)
    }

    @Test func aHelloThatIsNotWholeHasTheTimeOfAHandshake() throws {
        let scene = try self.opened()
        scene.client([0x16, 3, 1, 2, 0])
        scene.advance(19)
        #expect(scene.heard().isEmpty)
        scene.advance(2)
        #expect(scene.heard() == ["client closed"])
        #expect(scene.recorder.summary == ["CONNECT failed tls "])
    }

    @Test func aStopClosesUnusedTunnels() throws {
        let scene = try self.opened()
        scene.stop()
        #expect(Set(scene.heard()) == ["client closed", "stopped"])
        #expect(scene.recorder.exchanges.isEmpty)
    }
}
