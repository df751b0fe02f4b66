import CassetteStore
import TapeTLS
import Testing
@testable import TapeProxy

/// The exchange's first moments; what comes of tunnels is told by the end-to-end suites.
@Suite struct InterceptExchangeTests {
    private let scene: TLSScene

    init() throws { self.scene = try TLSScene() }

    @Test func aTunnelIsOpenBeforeAnybodyIsDialled() throws {
        let origin = try RawOrigin()
        let proxy = try self.scene.proxy()
        let client = try proxy.connect()
        try TLSScene.tunnel(client, to: origin.authority)
        #expect(origin.accepted == 0)
    }

    @Test func aHelloRightBehindTheCONNECTIsNotLost() throws {
        let proxy = try self.scene.proxy(.none, in: self.scene.emptyCassette())
        let client = try proxy.connect()
        try client.send(
            Array("CONNECT example.test:443 HTTP/1.1\r\nHost: example.test:443\r\n\r\n".utf8) + RecordedHello.octets(self.scene.client))
        try client.expect("HTTP/1.1 200 Connection established\r\n\r\n")
        #expect(try client.read(count: 1) == [0x16])
    }
}
