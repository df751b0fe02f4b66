import Foundation
import Testing
@testable import Wiretape

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
        let manager = try HTTPSession.ServerTrustManager([
            "api.example.com": .pinnedKeys([]), "*.example.com": .pinnedCertificates([]), "api.example.com:443": .disabled,
            "127.0.0.1:8443": .disabled, "::1": .custom { _, _ in true },
        ])
        #expect(self.name(manager.trust(forHost: host, port: port)) == wanted)
    }

    @Test func anInvalidPatternIsRefused() {
        #expect(throws: SettingSyntaxError.self) { try HTTPSession.ServerTrustManager(["http://a/": .default]) }
    }

    @Test func aStarIsForAllOthers() throws {
        let manager = try HTTPSession.ServerTrustManager(["a": .disabled, "*": .default], allHostsMustBeEvaluated: false)
        #expect(self.name(manager.trust(forHost: "b")) == "default" && self.name(manager.trust(forHost: "a")) == "disabled")
        #expect(!manager.allHostsMustBeEvaluated && manager.rules.count == 2)
    }
}

@Suite struct ServerTrustErrorTests {
    @Test func itShowsAsItsMessage() {
        #expect("\(ServerTrustError(.untrusted, "not trusted"))" == "not trusted")
        #expect("\(ServerTrustError.Code.pinMismatch)" == "pinMismatch")
        #expect(ServerTrustError.Code.noPolicy != .unsupported)
    }
}

@Suite struct ServerTrustRuleTests {
    private static let policies: [(name: String, trust: ServerTrust)] = [
        ("default", .default), ("anyName", .defaultEvaluation(validatesHost: false)), ("certificates", .pinnedCertificates([[1]])),
        ("keys", .pinnedPublicKeys([Array(repeating: 0, count: 32)])), ("disabled", .disabled), ("custom", .custom { _, _ in true }),
    ]

    private func decide(
        _ policy: String, _ platform: HTTPSession.ServerTrustRule.Platform, _ route: HTTPSession.ServerTrustRule.Route,
        url: String = "https://api.example/x"
    ) throws -> HTTPSession.ServerTrustRule.Decision {
        let trust = try #require(Self.policies.first { $0.name == policy }).trust
        let manager = try HTTPSession.ServerTrustManager(["api.example": trust])
        return HTTPSession.ServerTrustRule(platform: platform, route: route).decide(try #require(URL(string: url)), by: manager)
    }

    private func word(_ decision: HTTPSession.ServerTrustRule.Decision) -> String {
        switch decision {
        case .leaveToPlatform: "leave"
        case .evaluate: "evaluate"
        case .refuse(let error): "\(error.code)"
        }
    }

    /// The policy, then the result on Apple directly, on Apple through our proxy, on Linux directly, and on Linux through our proxy.
    @Test(arguments: [
        ("default", ["leave", "leave", "leave", "leave"]), ("anyName", ["evaluate", "leave", "unsupported", "leave"]),
        ("certificates", ["evaluate", "leave", "unsupported", "leave"]), ("keys", ["evaluate", "leave", "unsupported", "leave"]),
        ("disabled", ["evaluate", "leave", "unsupported", "leave"]), ("custom", ["evaluate", "leave", "unsupported", "leave"]),
    ])
    func everyPolicyOnEveryPlatform(policy: String, wanted: [String]) throws {
        var found: [String] = []
        for platform in [HTTPSession.ServerTrustRule.Platform.challenging, .silent] {
            for route in [HTTPSession.ServerTrustRule.Route.direct, .interceptingProxy] {
                found.append(self.word(try self.decide(policy, platform, route)))
            }
        }
        #expect(found == wanted)
    }

    @Test(arguments: HTTPSession.ServerTrustRule.Platform.allCases, HTTPSession.ServerTrustRule.Route.allCases)
    func withoutTLSOrAManagerThereIsNothingToJudge(platform: HTTPSession.ServerTrustRule.Platform, route: HTTPSession.ServerTrustRule.Route)
        throws
    {
        #expect(self.word(try self.decide("keys", platform, route, url: "http://api.example/")) == "leave")
        let rule = HTTPSession.ServerTrustRule(platform: platform, route: route)
        #expect(self.word(rule.decide(try #require(URL(string: "https://api.example/")), by: nil)) == "leave")
    }

    @Test(arguments: HTTPSession.ServerTrustRule.Platform.allCases, HTTPSession.ServerTrustRule.Route.allCases)
    func aHostWithoutAPolicyIsRefusedWhereAllMustHaveOne(
        platform: HTTPSession.ServerTrustRule.Platform, route: HTTPSession.ServerTrustRule.Route
    ) throws {
        #expect(self.word(try self.decide("default", platform, route, url: "https://other.example/")) == "noPolicy")
        #expect(self.word(try self.decide("default", platform, route, url: "https://api.example:8443/")) == "leave")
        let lenient = try HTTPSession.ServerTrustManager(["api.example": .default], allHostsMustBeEvaluated: false)
        let rule = HTTPSession.ServerTrustRule(platform: platform, route: route)
        #expect(self.word(rule.decide(try #require(URL(string: "https://other.example/")), by: lenient)) == "leave")
    }

    @Test(arguments: [
        ("anyName", "accepts any name in its certificate", "wiretape record --insecure-upstream api.example\""),
        ("certificates", "pins its certificates", "wiretape record --pin api.example=CERTIFICATES.pem\""),
        ("keys", "pins its keys", "--pin api.example=sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\""),
        ("disabled", "accepts any certificate", "wiretape record --insecure-upstream api.example\""),
        ("custom", "is a function", "TLSSettings.trust"),
    ])
    func aRefusalOnLinuxNamesTheWay(policy: String, what: String, way: String) throws {
        guard case .refuse(let error) = try self.decide(policy, .silent, .direct) else {
            Issue.record("not refused")
            return
        }
        #expect(error.message.hasPrefix("the policy for \"api.example\" "))
        #expect(error.message.contains(what) && error.message.contains(way) && error.message.contains("LiveTransport"), "\(error)")
    }

    @Test func thePlatformIsTheOneOfThisProcess() {
        #if canImport(FoundationNetworking)
        #expect(HTTPSession.ServerTrustRule().platform == .silent)
        #else
        #expect(HTTPSession.ServerTrustRule().platform == .challenging)
        #endif
        #expect(HTTPSession.ServerTrustRule().route == .direct)
    }
}
