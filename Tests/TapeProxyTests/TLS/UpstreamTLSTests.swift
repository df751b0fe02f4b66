import TapeExchange
import TapeTLS
import TapeTestSupport
import TapeTrust
import Testing
@testable import TapeProxy

@Suite struct UpstreamTLSTests {
    private func route(_ host: String = "127.0.0.1", serverName: String? = "example.test") -> UpstreamRoute {
        UpstreamRoute(Origin(scheme: .https, host: host, port: 8443), serverName: serverName, protocols: ["http/1.1"])
    }

    /// Shakes hands with a server that shows a certificate for these names; returns what went wrong.
    private func failure(_ names: [String], route: UpstreamRoute, configure: (inout TLSSettings) throws -> Void = { _ in }) throws
        -> TLSFailure.Cause?
    {
        let scene = try TLSScene()
        var configuration = ProxyConfiguration()
        scene.configure(&configuration)
        var settings = try #require(configuration.tls)
        try configure(&settings)
        let pair = try EmbeddedTLS(
            client: try UpstreamTLS(settings).connection(route, sessions: TLSSessionCache()), leaf: try scene.origins.leaf(for: names))
        try pair.run()
        return pair.client.failure?.cause
    }

    @Test func theServerNameIsVerifiedBeforeTheHost() throws {
        #expect(try self.failure(["example.test"], route: self.route()) == nil)
        #expect(try self.failure(["127.0.0.1"], route: self.route()) == .nameMismatch)
        #expect(try self.failure(["127.0.0.1"], route: self.route(serverName: nil)) == nil)
        #expect(try self.failure(["example.test"], route: self.route(serverName: nil)) == .nameMismatch)
    }

    @Test func theFirstRuleThatMatchesCounts() throws {
        let rules = [
            TLSSettings.TrustRule(hosts: try HostPattern("*.example.test"), trust: .disabled),
            TLSSettings.TrustRule(hosts: try HostPattern("example.test:8443"), trust: .custom { _, host in host == "example.test" }),
            TLSSettings.TrustRule(hosts: try HostPattern("*"), trust: .custom { _, _ in false }),
        ]
        #expect(try self.failure(["other.test"], route: self.route()) { $0.trust = rules } == nil)
        #expect(try self.failure(["other.test"], route: self.route(serverName: "a.example.test")) { $0.trust = rules } == nil)
        #expect(try self.failure(["example.test"], route: self.route(serverName: "third.test")) { $0.trust = rules } == .refusedByPolicy)
    }

    @Test func aHostWithoutARuleGetsTheDefault() throws {
        let other = TLSSettings.TrustRule(hosts: try HostPattern("other.test"), trust: .disabled)
        #expect(try self.failure(["third.test"], route: self.route()) { $0.trust = [other] } == .nameMismatch)
        #expect(try self.failure(["example.test"], route: self.route()) { $0.upstreamRoots = [] } == .unknownAuthority)
    }

    @Test func aFileOfRootsThatHoldsNoneIsSaidByItsName() throws {
        let folder = try TemporaryFolder()
        try folder.write([], to: "empty.pem")
        var settings = try TestAuthority().settings
        settings.upstreamRoots = [folder.file("empty.pem")]
        let failure = #expect(throws: TLSFailure.self) { _ = try UpstreamTLS(settings) }
        #expect(failure?.message.contains("empty.pem\" has no certificates") == true)
    }
}
