import TapeExchange
import Testing
@testable import TapeProxy

@Suite struct TunnelScopeTests {
    private func scope(_ host: String, serverName: String? = nil) -> TunnelScope {
        TunnelScope(route: UpstreamRoute(Origin(scheme: .https, host: host, port: 8443), serverName: serverName))
    }

    @Test func requestsGoWhereTheTunnelGoes() {
        #expect(self.scope("127.0.0.1", serverName: "example.test").origin == Origin(scheme: .https, host: "127.0.0.1", port: 8443))
        #expect(self.scope("h").failure == nil)
    }

    @Test func theMagicHostIsKnownByTheTunnelsHostAlone() {
        #expect(self.scope("wiretape.test").isMagic)
        #expect(self.scope("Wiretape.TEST").isMagic)
        #expect(!self.scope("h", serverName: "wiretape.test").isMagic)
        #expect(!self.scope("a.wiretape.test").isMagic)
    }
}
