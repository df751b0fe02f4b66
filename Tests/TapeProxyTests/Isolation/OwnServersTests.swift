#if os(Linux)
import CassettePlayback
import CassetteModel
import NIOCore
import TapeExchange
import TapeIsolation
import Testing

@testable import TapeProxy

/// An isolated program that asks the proxy for a server of this machine, which may be its own.
@Suite struct OwnServersTests {
    private static func isolation(_ change: (inout IsolationSettings) -> Void = { _ in }) throws -> Isolation {
        var settings = IsolationSettings()
        settings.hosts = ["localhost": ["127.0.0.1", "::1"], "box": ["127.0.1.1"]]
        change(&settings)
        return try Isolation(settings)
    }

    private func scene(
        _ session: CassetteSession? = nil, _ change: (inout IsolationSettings) -> Void = { _ in },
        configure: (inout ProxyConfiguration) -> Void = { _ in }
    ) throws -> ExchangeScene {
        let isolation = try Self.isolation(change)
        return try ExchangeScene(session) {
            $0.isolation = isolation
            $0.tls = try? TestAuthority().settings
            configure(&$0)
        }
    }

    private static let ok = ForwardTranscriptTests.ok

    // MARK: Addresses

    @Test(
        arguments: [
            (["127.0.0.1"], ["127.0.0.1", "::1"], ["127.0.0.1"]), (["::1"], ["127.0.0.1", "::1"], ["::1"]),
            (["127.0.0.1"], ["::1"], ["::1"]),
            (["::1"], ["127.0.0.1"], ["127.0.0.1"]), (["127.0.0.1", "::1"], ["127.0.0.1", "::1"], ["127.0.0.1", "::1"]),
            (["127.0.0.1", "::1"], ["::1"], ["::1"]), (["127.0.0.1"], [], ["127.0.0.1"]), (["127.0.0.9"], ["127.0.0.1"], ["127.0.0.9"]),
            (["198.18.0.2"], ["127.0.0.1", "::1"], ["127.0.0.1"]), (["fd77:7474::2"], ["127.0.0.1"], ["127.0.0.1"]),
            (["::"], ["::1"], ["::1"]),
            (["0.0.0.0"], ["127.0.0.1", "::1"], ["127.0.0.1"]),
        ] as [([String], Set<String>, [String])])
    func aServerOfTheMachineIsReachedInTheFamilyThatWasAskedForIfItListensThere(
        _ asked: [String], _ listening: Set<String>, _ dialled: [String]
    ) throws {
        let addresses = try asked.map { try SocketAddress(ipAddress: $0, port: 9000) }
        #expect(InsideDialer.outside(addresses, port: 9000, listening: listening).map(\.ipAddress) == dialled)
    }

    @Test(arguments: [
        ("127.0.0.1", ["127.0.0.1"]), ("127.8.9.1", ["127.8.9.1"]), ("::1", ["::1"]), ("0.0.0.0", ["0.0.0.0"]), ("::", ["::"]),
        ("198.18.0.2", ["198.18.0.2"]), ("fd77:7474::2", ["fd77:7474::2"]), ("::ffff:127.0.0.1", ["127.0.0.1"]),
        ("localhost", ["127.0.0.1", "::1"]), ("LocalHost.", ["127.0.0.1", "::1"]), ("api.localhost", ["127.0.0.1", "::1"]),
        ("box", ["127.0.1.1"]), ("BOX.", ["127.0.1.1"]), ("127.1", ["127.0.0.1"]), ("2130706433", ["127.0.0.1"]), ("0x7f.1", ["127.0.0.1"]),
    ])
    func serversOfTheIsolatedMachineAreLookedForInside(_ host: String, _ addresses: [String]) throws {
        #expect(try Self.isolation().ownAddresses(of: host, port: 80)?.map(\.ipAddress) == addresses)
    }

    @Test func aNameOfTheMachineWithAnAddressIsLookedForInside() throws {
        let isolation = try Self.isolation { $0.ownNames = ["vm.test"] }
        #expect(isolation.ownAddresses(of: "VM.test.", port: 80)?.map(\.ipAddress) == ["198.18.0.10", "fd77:7474::a", "127.0.0.1", "::1"])
    }

    @Test(arguments: [
        "a.test", "203.0.113.5", "10.0.0.1", "198.18.0.10", "fd77:7474::a", "localhost.a.test", "notlocalhost", "10.1", "1.2.3.4.5", "",
    ])
    func othersAreNot(_ host: String) throws { #expect(try Self.isolation().ownAddresses(of: host, port: 80) == nil) }

    @Test(arguments: [
        ("127.0.0.1", ["127.0.0.1", "::1"]), ("::1", ["::1", "127.0.0.1"]), ("localhost", ["127.0.0.1", "::1"]),
        ("box", ["127.0.1.1", "::1"]), ("198.18.0.2", ["198.18.0.2"]), ("0.0.0.0", ["0.0.0.0"]),
    ])
    func bothFamiliesOfAReachedPortAreOpen(_ host: String, _ addresses: [String]) throws {
        let isolation = try Self.isolation { $0.reach = [9000] }
        #expect(isolation.ownAddresses(of: host, port: 9000)?.map(\.ipAddress) == addresses)
        #expect(isolation.ownAddresses(of: host, port: 9001) != nil)
    }

    // MARK: Requests

    @Test(arguments: [
        "127.0.0.1:5000", "[::1]:5000", "localhost:5000", "0.0.0.0:5000", "api.localhost:5000", "box:5000", "198.18.0.2:5000",
    ])
    func itsOwnServerAnswersAndIsNotRecorded(_ authority: String) throws {
        let scene = try self.scene()
        for number in 1...2 {
            scene.client("GET http://\(authority)/x HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
            if number == 1 {
                #expect(scene.heard() == ["dial inside \(authority)"])
                scene.connected()
            }
            scene.origin(Self.ok)
            #expect(scene.heard() == ["origin 1 < GET /x HTTP/1.1|Host: \(authority)||", ForwardTranscriptTests.gotOK])
        }
        #expect(scene.recorder.exchanges.isEmpty && scene.proxy.configuration.isolation?.report == IsolationReport())
    }

    @Test func aReplayAsksItsOwnServerBeforeTheCassette() throws {
        let scene = try self.scene(CassetteSession(mode: .none))
        scene.client("POST http://localhost:5000/x HTTP/1.1\r\nHost: localhost:5000\r\nContent-Length: 4\r\n\r\nbody")
        #expect(scene.heard() == ["dial inside localhost:5000"])
        scene.connected()
        scene.origin(Self.ok)
        #expect(
            scene.heard() == ["origin 1 < POST /x HTTP/1.1|Host: localhost:5000|Content-Length: 4||body", ForwardTranscriptTests.gotOK])
        let verdict = scene.proxy.session.verdict()
        #expect(verdict.misses == 0 && verdict.forwarded == 0 && verdict.unreached == 0)
    }

    @Test func withoutAnOwnServerTheSessionDecides() throws {
        let replay = try self.scene(CassetteSession(mode: .none))
        replay.client("GET http://localhost:5000/x HTTP/1.1\r\nHost: localhost:5000\r\n\r\n")
        _ = replay.heard()
        replay.refused()
        #expect(replay.heard().first?.hasPrefix("client < HTTP/1.1 424 ") == true && replay.proxy.session.verdict().misses == 1)

        let recording = try self.scene()
        recording.client("GET http://localhost:5000/x HTTP/1.1\r\nHost: localhost:5000\r\n\r\n")
        _ = recording.heard()
        recording.refused()
        #expect(recording.heard() == ["dial localhost:5000"])
        recording.connected()
        recording.origin(Self.ok)
        #expect(recording.recorder.exchanges.map(\.interaction.request.url) == ["http://localhost:5000/x"])
        #expect(recording.proxy.configuration.isolation?.report.proxied == 1)
    }

    @Test func othersAreNotAskedInside() throws {
        let scene = try self.scene()
        scene.client("GET http://a.test/x HTTP/1.1\r\nHost: a.test\r\n\r\n")
        #expect(scene.heard() == ["dial a.test"])
        let open = try ExchangeScene()
        open.client("GET http://localhost:5000/x HTTP/1.1\r\nHost: localhost:5000\r\n\r\n")
        #expect(open.heard() == ["dial localhost:5000"])
    }

    @Test func aRequestWithItsURLInItsPathIsRecorded() throws {
        let scene = try self.scene()
        scene.client("GET /http://localhost:5000/x HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n")
        #expect(scene.heard() == ["dial localhost:5000"])
    }

    @Test func aServerThatEndsIsA502() throws {
        let scene = try self.scene(CassetteSession(mode: .none))
        scene.client("POST http://localhost:5000/x HTTP/1.1\r\nHost: localhost:5000\r\nContent-Length: 0\r\n\r\n")
        scene.connected()
        scene.originEnds()
        #expect(scene.heard().contains { $0.hasPrefix("client < HTTP/1.1 502 ") })
        let verdict = scene.proxy.session.verdict()
        #expect(verdict.misses == 0 && verdict.unreached == 0 && verdict.forwarded == 0)
    }

    @Test func aClientThatLeavesEndsTheSearch() throws {
        let scene = try self.scene()
        scene.client("GET http://localhost:5000/x HTTP/1.1\r\nHost: localhost:5000\r\n\r\n")
        scene.clientEnds()
        _ = scene.heard()
        scene.connected()
        #expect(scene.heard() == ["origin 1 closed"] && scene.recorder.exchanges.isEmpty)
    }

    // MARK: Tunnels

    @Test(arguments: ["localhost:5000", "127.0.0.1:25", "[::1]:443"])
    func aTunnelLeadsToItsOwnServerWhateverThatSpeaks(_ authority: String) throws {
        for mode in [RecordMode.all, .none] {
            let scene = try self.scene(CassetteSession(mode: mode))
            scene.client("CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\n\u{16}any")
            #expect(scene.heard() == ["dial inside \(authority)"])
            scene.connected()
            scene.origin("220 own\r\n")
            #expect(scene.heard() == ["client < HTTP/1.1 200 Connection established||", "origin 1 < \u{16}any", "client < 220 own|"])
            #expect(scene.proxy.configuration.isolation?.report == IsolationReport() && scene.recorder.exchanges.isEmpty)
            let verdict = scene.proxy.session.verdict()
            #expect(verdict.misses == 0 && verdict.forwarded == 0)
        }
    }

    @Test func aTunnelWithoutAnOwnServerIsDecidedAsAnyOther() throws {
        let scene = try self.scene()
        scene.client("CONNECT localhost:5000 HTTP/1.1\r\nHost: localhost:5000\r\n\r\nGET /x HTTP/1.1\r\nHost: localhost:5000\r\n\r\n")
        #expect(scene.heard() == ["dial inside localhost:5000"])
        scene.refused()
        #expect(Set(scene.heard()) == ["client < HTTP/1.1 200 Connection established||", "dial localhost:5000"])

        let mail = try self.scene()
        mail.client("CONNECT localhost:25 HTTP/1.1\r\nHost: localhost:25\r\n\r\n")
        mail.refused()
        #expect(mail.heard().last?.hasPrefix("client < HTTP/1.1 403 ") == true)
        #expect(mail.proxy.configuration.isolation?.report.refusals == 1)
    }

    @Test func aTunnelOfSOCKSLeadsToItsOwnServer() throws {
        for target in [[1, 127, 0, 0, 1], [3, 9] + Array("localhost".utf8), [4] + [UInt8](repeating: 0, count: 15) + [1]] as [[UInt8]] {
            let scene = try self.scene(CassetteSession(mode: .none))
            scene.client([5, 1, 0])
            _ = scene.heard()
            scene.client([5, 1, 0] + target + [0x13, 0x88])
            #expect(scene.heard().first?.hasPrefix("dial inside ") == true)
            scene.connected()
            scene.client("hello")
            scene.origin("own")
            #expect(scene.heard().suffix(2) == ["origin 1 < hello", "client < own"])
        }
    }
}
#endif
