#if os(Linux)
import CassetteModel
import TapeExchange
import TapeIsolation
import Testing

@testable import TapeProxy

/// An isolated program that looks a name up, and asks for the address that it got.
@Suite struct InsideNamesTests {
    private static func isolation(_ settings: IsolationSettings) throws -> Isolation {
        let isolation = try Isolation(settings)
        for name in ["a.test", "b.test"] { _ = isolation.names.addresses(of: name) }
        return isolation
    }

    private func scene(_ change: (inout IsolationSettings) -> Void = { _ in }, _ prepare: (Isolation) -> Void = { _ in }) throws
        -> ExchangeScene
    {
        var settings = IsolationSettings()
        change(&settings)
        let isolation = try Self.isolation(settings)
        prepare(isolation)
        return try ExchangeScene {
            $0.isolation = isolation
            $0.tls = try? TestAuthority().settings
        }
    }

    @Test(arguments: [
        ("198.18.0.10", "a.test"), ("198.18.0.11:8080", "b.test:8080"), ("[fd77:7474::a]", "a.test"),
        ("[fd77:7474::b]:81", "b.test:81"),
    ])
    func anAddressOfTheResolverStandsForItsName(_ address: String, _ name: String) throws {
        for target in ["http://\(address)/who?at=http://\(address)/", "/who"] {
            let head = RequestHead(
                method: "GET", target: target, version: .http11, fields: HeaderFields(["Host: \(address)", "A: \(address)"]))
            let named = try Self.isolation(IsolationSettings()).naming(head)
            #expect(named.target == (target == "/who" ? target : "http://\(name)/who?at=http://\(address)/"))
            #expect((0..<named.fields.count).map { named.fields.value(at: $0) } == [name, address])
        }
        var head = RequestHead(method: "GET", target: "/", version: .http2, fields: HeaderFields())
        head.authority = address
        #expect(try Self.isolation(IsolationSettings()).naming(head).authority == name)
    }

    @Test(arguments: ["198.18.0.2", "198.18.0.77", "203.0.113.5", "127.0.0.1", "a.test", "[fd77:7474::2]", "[::1", ""])
    func anyOtherHostStays(_ host: String) throws {
        let head = RequestHead(method: "GET", target: "http://\(host)/", version: .http11, fields: HeaderFields(["Host: \(host)"]))
        #expect(try Self.isolation(IsolationSettings()).naming(head) == head)
    }

    @Test func severalHostsStayMalformed() throws {
        let fields = HeaderFields(["Host: 198.18.0.10", "Host: 198.18.0.11"])
        let head = RequestHead(method: "GET", target: "/", version: .http11, fields: fields)
        #expect(try Self.isolation(IsolationSettings()).naming(head) == head)
    }

    @Test func aRequestForAnAddressIsRecordedUnderTheName() throws {
        for lead in ["", "CONNECT 198.18.0.10:80 HTTP/1.1\r\nHost: 198.18.0.10:80\r\n\r\n"] {
            let scene = try self.scene()
            if !lead.isEmpty {
                scene.client(lead)
                _ = scene.heard()
            }
            scene.client("GET \(lead.isEmpty ? "http://198.18.0.10" : "")/who HTTP/1.1\r\nHost: 198.18.0.10\r\n\r\n")
            #expect(scene.heard() == ["dial a.test"])
            scene.connected()
            scene.origin(ForwardTranscriptTests.ok)
            #expect(scene.heard().first == "origin 1 < GET /who HTTP/1.1|Host: a.test||")
            #expect(scene.recorder.exchanges.map(\.interaction.request.url) == ["http://a.test/who"])
        }
    }

    @Test(arguments: ["198.18.0.77", "[fd77:7474::4d]"])
    func aSessionTakesAnAddressOfAResolverForTheNameOfItsTunnel(_ address: String) throws {
        let scene = try ExchangeScene { $0.tls = try? TestAuthority().settings }
        scene.client([5, 1, 0])
        scene.client([5, 1, 0, 3, 6] + Array("a.test".utf8) + [0, 80])
        _ = scene.heard()
        scene.client("GET /who HTTP/1.1\r\nHost: \(address)\r\n\r\n")
        #expect(scene.heard() == ["dial a.test"])
        scene.connected()
        scene.origin(ForwardTranscriptTests.ok)
        #expect(scene.recorder.exchanges.map(\.interaction.request.url) == ["http://a.test/who"])
        // Others are still other servers.
        scene.client("GET /who HTTP/1.1\r\nHost: 203.0.113.10\r\n\r\n")
        #expect(scene.heard().contains { $0.contains("421") })
    }

    @Test func aRealAddressThatANameHasStaysTheAddress() throws {
        let scene = try self.scene {
            $0.usesRealAddresses = true
        } _: {
            $0.names.remember([203, 0, 113, 10], of: "a.test")
        }
        scene.client("CONNECT 203.0.113.10:80 HTTP/1.1\r\nHost: 203.0.113.10:80\r\n\r\n")
        _ = scene.heard()
        scene.client("GET /who HTTP/1.1\r\nHost: 203.0.113.10\r\n\r\n")
        #expect(scene.heard() == ["dial 203.0.113.10"])
        scene.connected()
        scene.origin(ForwardTranscriptTests.ok)
        #expect(scene.recorder.exchanges.map(\.interaction.request.url) == ["http://203.0.113.10/who"])
        // Another address is another server.
        scene.client("GET /who HTTP/1.1\r\nHost: 203.0.113.11\r\n\r\n")
        #expect(scene.heard().contains { $0.contains("421") })
    }

    @Test func onlyTheResolversAddressesAreOnlyInside() throws {
        var settings = IsolationSettings()
        let isolation = try Isolation(settings)
        for host in ["198.18.0.77", "198.19.255.255", "fd77:7474::5"] { #expect(isolation.isOnlyInside(host)) }
        for host in ["198.18.0.2", "fd77:7474::2", "198.20.0.1", "a.test"] { #expect(!isolation.isOnlyInside(host)) }
        settings.usesRealAddresses = true
        #expect(try !Isolation(settings).isOnlyInside("198.18.0.77"))
    }
}
#endif
