#if os(Linux)
import CassettePlayback
import NIOCore
import TapeIsolation
import TapeTestSupport
import Testing

@testable import TapeProxy

/// An isolated program that connects to an address, without the proxy.
@Suite struct IsolatedExchangeTests {
    /// - Parameter destination: the address that the program connects to. 198.18.0.10 is that of a.test.
    private func scene(
        to destination: String, port: Int, session: CassetteSession? = nil, _ change: (inout IsolationSettings) -> Void = { _ in }
    ) throws -> ExchangeScene {
        var settings = IsolationSettings()
        change(&settings)
        let isolation = try Isolation(settings)
        _ = isolation.names.addresses(of: "a.test")
        let scene = try ExchangeScene(session) {
            $0.isolation = isolation
            $0.tls = try? TestAuthority().settings
        }
        _ = scene.heard()
        scene.connect(to: try SocketAddress(ipAddress: destination, port: port))
        return scene
    }

    /// What was refused: the server and the reason.
    private func refused(_ scene: ExchangeScene) -> [String] {
        let report = scene.proxy.configuration.isolation?.report ?? IsolationReport()
        return report.refused.map { "\($0.host):\($0.port ?? 0) \($0.reason.rawValue) × \($0.count)" }
    }

    private static let ok = ForwardTranscriptTests.ok

    @Test(arguments: [
        ("198.18.0.10", 80, "a.test"), ("198.18.0.10", 8080, "a.test:8080"), ("203.0.113.5", 80, "203.0.113.5"),
        ("2001:db8::5", 80, "[2001:db8::5]"),
    ])
    func httpContinuesAsInATunnel(_ address: String, _ port: Int, _ authority: String) throws {
        let scene = try self.scene(to: address, port: port)
        #expect(scene.heard().isEmpty)
        scene.client("GET /x HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
        #expect(scene.heard() == ["dial \(authority)"])
        scene.connected()
        scene.origin(Self.ok)
        #expect(scene.heard() == ["origin 1 < GET /x HTTP/1.1|Host: \(authority)||", "client 2 < HTTP/1.1 200 OK|Content-Length: 2||ok"])
        #expect(scene.recorder.exchanges.map(\.interaction.request.url) == ["http://\(authority)/x"])
        let report = try #require(scene.proxy.configuration.isolation?.report)
        #expect(report.connections == 1 && report.seen == 1 && report.proxied == 0 && report.reached.count == 1 && report.refusals == 0)
    }

    @Test func aHandshakeIsNotRefused() throws {
        let scene = try self.scene(to: "198.18.0.10", port: 443)
        scene.client([0x16, 3, 1, 0, 200, 1])
        #expect(scene.heard().isEmpty && self.refused(scene).isEmpty)
    }

    @Test(arguments: ["PING\r\n", "*1\r\n$4\r\nPING\r\n", "\u{0}\u{0}\u{0}", "EHLO a.test\r\n"])
    func otherBytesAreRefusedAtOnce(_ bytes: String) throws {
        let scene = try self.scene(to: "198.18.0.10", port: 6379)
        scene.client(bytes)
        #expect(scene.heard() == ["client 2 closed"] && self.refused(scene) == ["a.test:6379 not-http × 1"])
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\nHost: a.test\r\nHost: b.test\r\n\r\n", "SOURCE /live ICE/1.0\r\n\r\n", "GET /\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
    ])
    func aMalformedRequestIsAMiss(_ request: String) throws {
        let scene = try self.scene(to: "198.18.0.10", port: 80, session: CassetteSession(mode: .none))
        scene.client(request)
        let heard = scene.heard().joined()
        #expect(heard.contains("client 2 < HTTP/1.1 4") || heard.contains("client 2 < HTTP/1.1 505"), "\(heard)")
        let verdict = scene.proxy.session.verdict()
        #expect(verdict.misses == 1, "\(verdict.reports)")
        if !request.hasPrefix("POST") {
            #expect(verdict.reports.first?.description.hasPrefix("a malformed request to \"a.test\" was answered with an error: ") == true)
        }
    }

    @Test func whatIsNoRequestYetHasTwoSeconds() throws {
        let scene = try self.scene(to: "198.18.0.10", port: 80)
        for piece in ["\r\n", "\r\n"] {
            scene.client(piece)
            scene.advance(1)
            #expect(scene.heard().isEmpty)
        }
        scene.advance(1)
        #expect(scene.heard() == ["client 2 closed"] && self.refused(scene) == ["a.test:80 not-http × 1"])
    }

    @Test(arguments: [21, 22, 25, 110, 143, 465, 587, 853, 993, 995, 3306])
    func aServerThatSpeaksFirstIsRefusedAtOnce(_ port: Int) throws {
        let scene = try self.scene(to: "198.18.0.10", port: port)
        #expect(scene.heard() == ["client 2 closed"] && self.refused(scene) == ["a.test:\(port) port × 1"])
    }

    @Test func aSilentClientHasTwoSeconds() throws {
        let scene = try self.scene(to: "198.18.0.10", port: 5432)
        scene.advance(1)
        #expect(scene.heard().isEmpty)
        scene.advance(1)
        #expect(scene.heard() == ["client 2 closed"] && self.refused(scene) == ["a.test:5432 silent × 1"])
    }

    @Test func aSilentClientWaitsForTheNewestConnectionOfItsTarget() throws {
        let scene = try self.scene(to: "198.18.0.10", port: 5432)
        scene.advance(1)
        scene.connect(to: try SocketAddress(ipAddress: "198.18.0.10", port: 5432))
        scene.advance(1)
        #expect(scene.heard().isEmpty)
        scene.advance(1)
        #expect(scene.heard() == ["client 2 closed", "client 3 closed"] && self.refused(scene) == ["a.test:5432 silent × 2"])
    }

    @Test(arguments: [80, 443]) func aSpareConnectionStaysOpen(_ port: Int) throws {
        let scene = try self.scene(to: "198.18.0.10", port: port)
        scene.advance(scene.proxy.limits.clientIdle - 1)
        #expect(!scene.heard().contains("client 2 closed"))
        scene.advance(2)
        #expect(scene.heard().contains("client 2 closed") && self.refused(scene).isEmpty)
    }

    @Test func aServerOfHTTPMayHaveSpareConnections() throws {
        let scene = try self.scene(to: "198.18.0.10", port: 8080)
        scene.connect(to: try SocketAddress(ipAddress: "198.18.0.10", port: 8080))
        scene.client("GET /x HTTP/1.1\r\nHost: a.test:8080\r\n\r\n")
        scene.connected()
        scene.origin(Self.ok)
        _ = scene.heard()
        scene.advance(4)
        #expect(!scene.heard().contains("client 2 closed") && self.refused(scene).isEmpty)
    }

    @Test func aClientThatLeavesWithoutAByteIsListedExceptOnPortsOfHTTP() throws {
        for (port, listed) in [(5432, ["a.test:5432 silent × 1"]), (80, []), (443, [])] {
            let scene = try self.scene(to: "198.18.0.10", port: port)
            scene.clientEnds()
            #expect(scene.heard() == ["client 2 closed"] && self.refused(scene) == listed)
        }
        let scene = try self.scene(to: "198.18.0.10", port: 80)
        scene.client("le")
        scene.clientEnds()
        #expect(self.refused(scene) == ["a.test:80 not-http × 1"])
    }

    @Test(arguments: [("198.18.0.10", "a.test"), ("203.0.113.5", "203.0.113.5")])
    func aPassageIsOpenedUnread(_ address: String, _ host: String) throws {
        let scene = try self.scene(to: address, port: 5432) { $0.passages = [.init(host: host, port: 5432)] }
        #expect(scene.heard() == ["dial \(host):5432"])
        scene.connected()
        scene.client("\u{0}\u{3}")
        scene.origin("R")
        #expect(scene.heard() == ["origin 1 < \u{0}\u{3}", "client 2 < R"])
        #expect(scene.proxy.configuration.isolation?.report.passed.map { "\($0.host):\($0.port) × \($0.count)" } == ["\(host):5432 × 1"])
    }

    @Test func aClientMayEndItsOutputBeforeItsPassageIsOpen() throws {
        let scene = try self.scene(to: "198.18.0.10", port: 5432) { $0.passages = [.init(host: "a.test", port: 5432)] }
        scene.client("PING")
        scene.clientEnds()
        #expect(scene.heard() == ["dial a.test:5432"])
        scene.connected()
        scene.origin("PONG")
        #expect(scene.heard() == ["origin 1 < PING", "client 2 < PONG"])
        scene.originEnds()
        #expect(Set(scene.heard()) == ["client 2 closed", "origin 1 closed"])
    }

    @Test func withoutANetworkEverythingIsRefused() throws {
        let scene = try self.scene(to: "198.18.0.10", port: 80) { $0.refusesConnections = true }
        #expect(scene.heard() == ["client 2 closed"] && self.refused(scene) == ["a.test:80 offline × 1"])
    }

    @Test func aClientThatEndsItsOutputWaitsUntilItsProgramIsKnown() throws {
        let scene = try self.scene(to: "198.18.0.10", port: 7000)
        scene.client("P")
        _ = scene.heard()
        scene.clientEnds()
        #expect(scene.heard() == ["client 2 closed"] && self.refused(scene) == ["a.test:7000 not-http × 1"])
    }

    /// Without TLS settings, nobody opens the handshake.
    @Test(arguments: [
        (["redis"], ["a.test:6380 not-http × 1"]), (["imap", "mqtt"], ["a.test:6380 not-http × 1"]), (["h2", "redis"], []),
        (["http/1.0"], []),
        ([], []),
    ])
    func aHandshakeThatOffersOtherProtocolsIsRefusedWhereNobodyOpensIt(_ protocols: [String], _ refused: [String]) throws {
        let isolation = try Isolation(IsolationSettings())
        _ = isolation.names.addresses(of: "a.test")
        let scene = try ExchangeScene { $0.isolation = isolation }
        scene.connect(to: try SocketAddress(ipAddress: "198.18.0.10", port: 6380))
        let hello = try RecordedHello.bytes(TLSClient(trusting: TestAuthority()), protocols: protocols)
        scene.client(Array(hello.prefix(60)))
        #expect(scene.heard().isEmpty)
        scene.client(Array(hello.dropFirst(60)))
        #expect(self.refused(scene) == refused && scene.heard() == [refused.isEmpty ? "dial a.test:6380" : "client 2 closed"])
    }

    @Test func aSwitchToAnotherProtocolIsRefused() throws {
        let scene = try self.scene(to: "198.18.0.10", port: 80)
        scene.client("GET /x HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n")
        scene.connected()
        _ = scene.heard()
        scene.origin("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\nhello")
        #expect(Set(scene.heard()) == ["origin 1 closed", "client 2 closed"])
        #expect(
            self.refused(scene) == ["a.test:80 not-http × 1"] && scene.recorder.summary.first?.hasPrefix("GET 101 cut by recorder") == true)
    }

    // MARK: Addresses

    @Test func theAddressThatTheProgramChoseIsDialled() throws {
        let scene = try self.scene(to: "203.0.113.5", port: 80) { $0.usesRealAddresses = true }
        let names = try #require(scene.proxy.configuration.isolation?.names)
        for last in [5, 6] as [UInt8] { names.remember([203, 0, 113, last], of: "a.test") }
        for last in [5, 6] {
            scene.connect(to: try SocketAddress(ipAddress: "203.0.113.\(last)", port: 80))
            scene.client("GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n")
            #expect(scene.heard() == ["dial a.test at 203.0.113.\(last)"])
            scene.connected()
            scene.origin(Self.ok)
            _ = scene.heard()
        }
        #expect(Set(scene.recorder.exchanges.map(\.interaction.request.url)) == ["http://a.test/x"])
        // Two servers of one URL.
        scene.connect()
        scene.client("CONNECT 203.0.113.6:443 HTTP/1.1\r\nHost: 203.0.113.6:443\r\n\r\n")
        scene.client("GET /x HTTP/1.1\r\nHost: a.test:443\r\n\r\n")
        #expect(scene.heard().last == "dial a.test:443 at 203.0.113.6")
    }

    @Test func anAddressThatMeansNothingOutsideIsNotDialled() throws {
        for change in [{ $0.usesRealAddresses = true }, { _ in }] as [(inout IsolationSettings) -> Void] {
            let scene = try self.scene(to: "198.18.0.10", port: 80, change)
            scene.client("GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n")
            #expect(scene.heard() == ["dial a.test"])
        }
    }

    @Test(arguments: [
        ("127.0.0.1", "0.0.0.0:9000"), ("127.0.0.1", "[::ffff:127.0.0.1]:9000"), ("127.0.0.1", "0:9000"), ("::1", "[::]:9000"),
        ("203.0.113.5", "[::ffff:203.0.113.5]:9000"),
    ])
    func oneAddressInTwoNotationsIsOne(_ address: String, _ host: String) throws {
        let scene = try self.scene(to: address, port: 9000) { $0.reach = [9000] }
        if address != "203.0.113.5" { scene.refused() }
        scene.client("GET /x HTTP/1.1\r\nHost: \(host)\r\n\r\n")
        #expect(scene.heard().last == "dial \(address.contains(":") ? "[\(address)]" : address):9000")
        scene.connected()
        scene.origin(Self.ok)
        #expect(scene.recorder.exchanges.map(\.interaction.request.url) == ["http://\(host)/x"])
    }

    /// The cassette has answers of two servers under one name.
    @Test(arguments: [([5, 6], 0), ([6, 5], 2), ([6], 1), ([77], 1)] as [([Int], Int)])
    func theAnswerOfAnotherServerIsAMiss(_ order: [Int], _ misses: Int) throws {
        let exchanges = [5, 6].map { last in
            """
            { "id": \(last), "started": "2026-11-21T04:00:0\(last).000000Z", "request": { "method": "GET", "url": "http://a.test/x" },
              "connection": { "id": \(last), "remote": "203.0.113.\(last):80" },
              "response": { "status": 200, "headers": ["Content-Length: 1"], "body": { "size": 1, "text": "\(last)" } } }
            """
        }
        let folder = try TemporaryFolder()
        try folder.write(
            Array("{ \"wiretape\": 1, \"interactions\": [\n\(exchanges.joined(separator: ",\n"))\n] }\n".utf8), to: "tape.json")
        let cassette = try RecordedCassette(path: folder.file("tape.json"))
        let session = try CassetteSession(mode: .none, cassette: cassette)
        let isolation = try Isolation(IsolationSettings())
        let scene = try ExchangeScene(session, cassette: cassette) {
            $0.isolation = isolation
            $0.tls = try? TestAuthority().settings
        }
        for last in order {
            scene.connect(to: try SocketAddress(ipAddress: "203.0.113.\(last)", port: 80))
            scene.client("GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n")
        }
        _ = scene.heard()
        #expect(session.verdict().misses == misses && session.verdict().hits == order.count - misses, "\(session.verdict().reports)")
    }

    // MARK: Loopback

    @Test func aRequestIsReadAlthoughItsClientEndedWhileItsOwnServersWereLookedFor() throws {
        let scene = try self.scene(to: "127.0.0.1", port: 9000, session: CassetteSession(mode: .none)) { $0.reach = [9000] }
        scene.client("GET /x HTTP/1.1\r\nHost: localhost:9000\r\n\r\n")
        scene.clientEnds()
        scene.refused()
        _ = scene.heard()
        #expect(scene.proxy.session.verdict().misses == 1)
    }

    @Test(arguments: [("127.0.0.1", "[::1]"), ("::1", "127.0.0.1")])
    func theProgramsOwnServerInTheOtherFamilyComesFirst(_ address: String, _ twin: String) throws {
        let scene = try self.scene(to: address, port: 9000) { $0.reach = [9000] }
        #expect(scene.heard() == ["dial inside \(twin):9000"])
        scene.client("any bytes")
        scene.connected()
        #expect(scene.heard() == ["origin 1 < any bytes"])
        scene.origin("other bytes")
        #expect(scene.heard() == ["client 2 < other bytes"] && scene.recorder.exchanges.isEmpty)
        #expect(scene.proxy.configuration.isolation?.report == IsolationReport())
    }

    /// The machine's own hosts file gives its name an address.
    @Test func theProgramsOwnServerComesFirstUnderANameOfTheMachine() throws {
        let scene = try self.scene(to: "198.18.0.10", port: 9000) { $0.ownNames = ["a.test"] }
        #expect(scene.heard() == ["dial inside a.test:9000 at 198.18.0.10"])
        scene.client("GET /x HTTP/1.1\r\nHost: a.test:9000\r\n\r\n")
        scene.refused()
        #expect(scene.heard() == ["dial a.test:9000"])
        scene.connected()
        scene.origin(Self.ok)
        #expect(scene.recorder.exchanges.map(\.interaction.request.url) == ["http://a.test:9000/x"])
    }

    @Test func aReachedPortWithoutAnOwnServerContinues() throws {
        let scene = try self.scene(to: "127.0.0.1", port: 9000) { $0.reach = [9000] }
        scene.client("GET /x HTTP/1.1\r\nHost: localhost:9000\r\n\r\n")
        #expect(scene.heard() == ["dial inside [::1]:9000"])
        scene.refused()
        #expect(scene.heard() == ["dial 127.0.0.1:9000"])
        scene.connected()
        scene.origin(Self.ok)
        #expect(scene.recorder.exchanges.map(\.interaction.request.url) == ["http://localhost:9000/x"])
    }

    @Test func anOwnServerIsNotLookedForAfterItsClientHasLeft() throws {
        let scene = try self.scene(to: "127.0.0.1", port: 9000) { $0.reach = [9000] }
        scene.clientResets()
        _ = scene.heard()
        scene.connected()
        #expect(scene.heard() == ["origin 1 closed"])
        #expect(scene.proxy.configuration.isolation?.report == IsolationReport())
    }

    @Test func thePortsOfTheIsolationItselfAreNobodys() throws {
        let scene = try self.scene(to: "127.0.0.1", port: 15_001)
        #expect(scene.heard() == ["client 2 closed"] && self.refused(scene).isEmpty)
    }

    @Test func aConnectionThatWaitsEndsWithTheProxy() throws {
        let scene = try self.scene(to: "198.18.0.10", port: 80)
        scene.stop()
        #expect(scene.heard().contains("client 2 closed") && self.refused(scene).isEmpty)
    }
}

/// A tunnel that an isolated program asks the proxy for.
@Suite struct IsolatedTunnelTests {
    private func scene(
        _ session: CassetteSession? = nil, _ change: (inout IsolationSettings) -> Void = { _ in }
    ) throws -> ExchangeScene {
        var settings = IsolationSettings()
        change(&settings)
        let isolation = try Isolation(settings)
        return try ExchangeScene(session) {
            $0.isolation = isolation
            $0.tls = try? TestAuthority().settings
        }
    }

    private func refused(_ scene: ExchangeScene) -> [String] {
        let report = scene.proxy.configuration.isolation?.report ?? IsolationReport()
        return report.refused.map { "\($0.host):\($0.port ?? 0) \($0.reason.rawValue) × \($0.count)" }
    }

    private func connect(_ scene: ExchangeScene, _ authority: String) {
        scene.client("CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
    }

    private static let open = "client < HTTP/1.1 200 Connection established||"

    @Test func aServerThatSpeaksFirstIsRefused() throws {
        let scene = try self.scene()
        self.connect(scene, "a.test:25")
        let heard = scene.heard()
        #expect(heard.first?.hasPrefix("client < HTTP/1.1 403 Forbidden|Wiretape-Error: isolated|") == true, "\(heard)")
        #expect(heard.first?.contains("--allow tcp:a.test:25") == true && self.refused(scene) == ["a.test:25 port × 1"])
    }

    @Test(arguments: [
        ("GET http://user:word@a.test/x ICE/1.0\r\n\r\n", "a.test"),
        ("GET http://a.test:81/ HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "a.test:81"),
        ("CONNECT a.test HTTP/1.1\r\nHost: a.test\r\n\r\n", "a.test"),
        ("POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "a.test"),
    ])
    func aMalformedRequestIsNamedByItsServer(_ request: String, _ server: String) throws {
        let scene = try self.scene(CassetteSession(mode: .none))
        scene.client(request)
        _ = scene.heard()
        let reports = scene.proxy.session.verdict().reports.map(\.description)
        if request.hasPrefix("POST") {
            #expect(reports.count == 1 && reports[0].contains("http://a.test/"))
        } else {
            #expect(
                reports.count == 1 && reports[0].hasPrefix("a malformed request to \"\(server)\" was answered")
                    && !reports[0].contains("\\"))
        }
    }

    @Test func otherBytesAreRefused() throws {
        let scene = try self.scene()
        self.connect(scene, "a.test:6379")
        scene.client("PING\r\n")
        #expect(scene.heard() == [Self.open, "client closed"] && self.refused(scene) == ["a.test:6379 not-http × 1"])
    }

    @Test func aSilentClientHasTwoSecondsExceptOnPortsOfHTTP() throws {
        let scene = try self.scene()
        self.connect(scene, "a.test:6379")
        scene.advance(2)
        #expect(scene.heard() == [Self.open, "client closed"] && self.refused(scene) == ["a.test:6379 silent × 1"])

        let spare = try self.scene()
        self.connect(spare, "a.test:443")
        spare.advance(70)
        #expect(spare.heard() == [Self.open] && self.refused(spare).isEmpty)
    }

    @Test func aSilentClientWaitsForTheNewestTunnelOfItsTarget() throws {
        let scene = try self.scene()
        self.connect(scene, "a.test:6379")
        scene.advance(1)
        scene.connect()
        self.connect(scene, "a.test:6379")
        _ = scene.heard()
        scene.advance(1)
        #expect(scene.heard().isEmpty)
        scene.advance(1)
        #expect(scene.heard() == ["client 1 closed", "client 2 closed"] && self.refused(scene) == ["a.test:6379 silent × 2"])
    }

    @Test func aServerOfHTTPMayHaveSpareTunnels() throws {
        let scene = try self.scene()
        self.connect(scene, "a.test:8080")
        scene.client("GET /x HTTP/1.1\r\nHost: a.test:8080\r\n\r\n")
        scene.connected()
        scene.origin(ForwardTranscriptTests.ok)
        scene.connect()
        self.connect(scene, "a.test:8080")
        scene.advance(3)
        scene.clientEnds()
        #expect(self.refused(scene).isEmpty)
    }

    @Test func aPassageIsOpenedUnread() throws {
        let scene = try self.scene { $0.passages = [.init(host: "a.test", port: 25)] }
        self.connect(scene, "a.test:25")
        #expect(scene.heard() == ["dial a.test:25"])
        scene.connected()
        scene.origin("220 a.test\r\n")
        #expect(scene.heard() == [Self.open, "client < 220 a.test|"] && self.refused(scene).isEmpty)
        #expect(scene.proxy.configuration.isolation?.report.passed.map { "\($0.host):\($0.port) × \($0.count)" } == ["a.test:25 × 1"])
    }

    @Test func requestsInItCountAsProxied() throws {
        let scene = try self.scene()
        self.connect(scene, "a.test:80")
        scene.client("GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n")
        #expect(scene.heard() == [Self.open, "dial a.test"])
        let report = try #require(scene.proxy.configuration.isolation?.report)
        #expect(report.proxied == 1 && report.seen == 0)
    }
}
#endif
