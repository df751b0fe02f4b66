import CassetteModel
import CassetteStore
import TapeTLS
import Testing
@testable import TapeProxy

@Suite struct InterceptExchangeFailuresTests {
    private let scene: TLSScene

    init() throws { self.scene = try TLSScene() }

    @Test func aNameThatNoCertificateCanHoldEndsTheTunnel() throws {
        let proxy = try self.scene.proxy(.newEpisodes, in: self.scene.emptyCassette())
        let client = try proxy.connect()
        try TLSScene.tunnel(client, to: "a..b:443")
        let stream = try self.scene.client.stream(over: client, serverName: nil)
        #expect(throws: TLSFailure.self) { try stream.handshake() }
        #expect(try proxy.recorded().first?.request.method == "CONNECT")
    }
}
