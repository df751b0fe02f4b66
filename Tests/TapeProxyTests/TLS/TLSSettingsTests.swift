import TapeExchange
@testable import TapeProxy
import TapeTLS
import TapeTestSupport
import TapeTrust
import Testing

@Suite struct PeerPolicyServerTrustTests {
    @Test(arguments: [true, false]) func theDefaultKeepsWhetherTheHostCounts(validatesHost: Bool) throws {
        guard case .defaultEvaluation(validatesHost) = PeerPolicy(.defaultEvaluation(validatesHost: validatesHost)) else {
            throw RawError("another policy")
        }
    }

    @Test(arguments: [(true, false), (false, true), (true, true), (false, false)])
    func pinsKeepWhatIsChecked(chain: Bool, host: Bool) throws {
        let certificates = PeerPolicy(.pinnedCertificates([[1], [2]], validatesChain: chain, validatesHost: host))
        guard case .pinnedCertificates([[1], [2]], chain, host) = certificates else { throw RawError("another policy") }
        let keys = PeerPolicy(.pinnedPublicKeys([[3]], validatesChain: chain, validatesHost: host))
        guard case .pinnedPublicKeys([[3]], chain, host) = keys else { throw RawError("another policy") }
    }

    @Test func noEvaluationStaysNone() throws {
        guard case .disabled = PeerPolicy(.disabled) else { throw RawError("another policy") }
    }

    @Test func aCustomEvaluationIsTheSameFunction() throws {
        guard case .custom(let evaluate) = PeerPolicy(.custom { chain, host in chain == [[7]] && host == "h" }) else {
            throw RawError("another policy")
        }
        #expect(evaluate([[7]], "h"))
        #expect(!evaluate([[7]], "i"))
        #expect(!evaluate([], "h"))
    }
}

@Suite struct UpstreamTLSSourceTests {
    @Test func rootsAreReadOnce() throws {
        var configuration = ProxyConfiguration()
        let scene = try TLSScene()
        scene.configure(&configuration)
        let source = UpstreamTLSSource(configuration.tls)
        #expect(try source.get() === source.get())
        withExtendedLifetime(scene) {}
    }

    @Test func aSourceWithoutSettingsFails() {
        let failure = #expect(throws: TLSFailure.self) { try UpstreamTLSSource(nil).get() }
        #expect(failure?.cause == .other)
    }
}

@Suite struct UpstreamTLSTests {
    private func route(_ host: String = "127.0.0.1", serverName: String? = "example.test") -> UpstreamRoute {
        UpstreamRoute(Origin(scheme: .https, host: host, port: 8443), serverName: serverName, protocols: ["http/1.1"])
    }

    /// Performs a handshake with a server that presents a certificate for these names, and returns the failure.
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

    @Test func aFileWithoutRootsIsReportedByItsName() throws {
        let folder = try TemporaryFolder()
        try folder.write([], to: "empty.pem")
        var settings = try TestAuthority().settings
        settings.upstreamRoots = [folder.file("empty.pem")]
        let failure = #expect(throws: TLSFailure.self) { _ = try UpstreamTLS(settings) }
        #expect(failure?.message.contains("empty.pem\" has no certificates") == true)
    }
}
