import TapeExchange
import Testing
@testable import TapeProxy

@Suite struct UpstreamRouteTests {
    private let origin = Origin(scheme: .https, host: "127.0.0.1", port: 8443)

    @Test func theNameThatIsAskedForIsTheOneToVerify() {
        #expect(UpstreamRoute(self.origin, serverName: "example.test").verifiedHost == "example.test")
        #expect(UpstreamRoute(self.origin).verifiedHost == "127.0.0.1")
    }

    @Test func connectionsOfOtherRoutesAreNoneOfOurs() {
        let route = UpstreamRoute(self.origin, serverName: "example.test", protocols: ["http/1.1"])
        #expect(route == UpstreamRoute(self.origin, serverName: "example.test", protocols: ["http/1.1"]))
        #expect(route != UpstreamRoute(self.origin, serverName: "other.test", protocols: ["http/1.1"]))
        #expect(route != UpstreamRoute(self.origin, protocols: ["http/1.1"]))
        #expect(route != UpstreamRoute(self.origin, serverName: "example.test"))
        let clear = Origin(scheme: .http, host: "127.0.0.1", port: 8443)
        #expect(route != UpstreamRoute(clear, serverName: "example.test", protocols: ["http/1.1"]))
    }
}
