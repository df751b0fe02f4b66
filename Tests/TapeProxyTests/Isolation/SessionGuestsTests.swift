#if os(Linux)
import CassettePlayback
import NIOCore
import TapeExchange
import TapeIsolation
import Testing

@testable import TapeProxy

/// A session to which another process leads the connections of its isolated program.
@Suite struct SessionGuestsTests {
    private func scene(_ session: CassetteSession? = nil) throws -> ExchangeScene {
        let scene = try ExchangeScene(session) { $0.tls = try? TestAuthority().settings }
        _ = scene.heard()
        return scene
    }

    /// Everything that the client sends to open a tunnel.
    private func ask(_ scene: ExchangeScene, _ host: String, _ port: Int, _ request: SOCKS5.Request) {
        scene.connect()
        var client = SOCKSClient(host: .name(host), port: port, for: request)
        scene.client(client.greeting)
        var answer: ArraySlice<UInt8> = [5, 0]
        guard case .send(let bytes) = client.receive(&answer) else { return }
        scene.client(bytes)
    }

    private func watch(_ scene: ExchangeScene) -> [String] {
        self.ask(scene, "localhost", 1, .watch)
        return scene.heard()
    }

    @Test(arguments: [(RecordMode.all, "forwards"), (.none, "replays")])
    func theSessionSaysWhetherItForwards(_ mode: RecordMode, _ word: String) throws {
        let heard = self.watch(try self.scene(CassetteSession(mode: mode)))
        #expect(heard.last?.hasSuffix("\(word)\n") == true, "\(heard)")
    }

    @Test func anotherProtocolIsRefusedAndTold() throws {
        let scene = try self.scene()
        _ = self.watch(scene)
        self.ask(scene, "a.test", 6379, .connectIsolated(address: [198, 18, 0, 10]))
        scene.client("PING\r\n")
        #expect(scene.heard().suffix(2) == ["client 2 < refused 80 not-http 6379 a.test\n", "client 3 closed"])
    }

    @Test func inAReplayItIsAMissAsWell() throws {
        let scene = try self.scene(CassetteSession(mode: .none))
        self.ask(scene, "a.test", 6379, .connectIsolated(address: nil))
        scene.client("PING\r\n")
        #expect(scene.heard().last == "client 2 closed" && scene.proxy.session.verdict().misses == 1)
    }

    @Test func aHandshakeThatOffersAnotherProtocolIsRefused() throws {
        let scene = try self.scene()
        _ = self.watch(scene)
        self.ask(scene, "a.test", 6380, .connectIsolated(address: nil))
        scene.client(try RecordedHello.bytes(TLSClient(trusting: TestAuthority()), protocols: ["redis"]))
        #expect(scene.heard().suffix(2) == ["client 2 < refused 80 not-http 6380 a.test\n", "client 3 closed"])
    }

    /// Whoever comes by SOCKS himself is not isolated.
    @Test func anotherClientIsNotRefused() throws {
        let scene = try self.scene()
        self.ask(scene, "a.test", 6379, .connect)
        scene.client("PING\r\n")
        #expect(scene.heard().last == "dial a.test:6379")
    }

    @Test(
        arguments: [([203, 0, 113, 6], "dial a.test at 203.0.113.6"), ([198, 18, 0, 10], "dial a.test"), (nil, "dial a.test")]
            as [([UInt8]?, String)])
    func onlyARealAddressIsDialled(_ address: [UInt8]?, _ dial: String) throws {
        let scene = try self.scene()
        self.ask(scene, "a.test", 80, .connectIsolated(address: address))
        scene.client("GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n")
        #expect(scene.heard().last == dial)
    }
}
#endif
