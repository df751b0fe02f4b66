import Testing
import Wiretape

@Suite struct ServerTrustManagerTests {
    private func name(_ trust: ServerTrust?) -> String {
        switch trust {
        case nil: "none"
        case .defaultEvaluation: "default"
        case .pinnedCertificates: "certificates"
        case .pinnedPublicKeys: "keys"
        case .disabled: "disabled"
        case .custom: "custom"
        }
    }

    @Test(arguments: [
        ("api.example.com", 443, "keys"), ("API.example.com", 443, "keys"), ("www.example.com", 443, "certificates"),
        ("example.com", 443, "none"), ("127.0.0.1", 8443, "disabled"), ("127.0.0.1", 443, "none"), ("[::1]", 443, "custom"),
        ("::1", 443, "custom"), ("other.org", 443, "none"),
    ])
    func theFirstPatternThatFitsCounts(host: String, port: Int, wanted: String) throws {
        let manager = try ServerTrustManager([
            "api.example.com": .pinnedKeys([]), "*.example.com": .pinnedCertificates([]), "api.example.com:443": .disabled,
            "127.0.0.1:8443": .disabled, "::1": .custom { _, _ in true },
        ])
        #expect(self.name(manager.trust(forHost: host, port: port)) == wanted)
    }

    @Test func aPatternThatIsNoneIsRefused() {
        #expect(throws: HostPatternError.self) { try ServerTrustManager(["http://a/": .default]) }
    }

    @Test func aStarIsForAllOthers() throws {
        let manager = try ServerTrustManager(["a": .disabled, "*": .default], allHostsMustBeEvaluated: false)
        #expect(self.name(manager.trust(forHost: "b")) == "default" && self.name(manager.trust(forHost: "a")) == "disabled")
        #expect(!manager.allHostsMustBeEvaluated && manager.rules.count == 2)
    }
}
