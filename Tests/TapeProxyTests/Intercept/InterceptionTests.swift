import CassetteStore
import Dispatch
import NIOConcurrencyHelpers
import NIOCore
import TapeTLS
import TapeTrust
import Testing
@testable import TapeProxy

@Suite struct InterceptionTests {
    private func interception(passthrough: [String] = [], refused: [String] = []) throws -> Interception {
        var settings = try TestAuthority().settings
        settings.passthrough = try passthrough.map { try HostPattern($0) }
        settings.refused = try refused.map { try HostPattern($0) }
        return try Interception(settings)
    }

    @Test func everyTunnelIsLookedIntoUnlessAPatternSaysOtherwise() throws {
        let interception = try self.interception(passthrough: ["*.bank.test", "pinned.test:8443"], refused: ["ads.test", "x.bank.test"])
        #expect(interception.choice(host: "example.test", port: 443) == .intercept)
        #expect(interception.choice(host: "www.bank.test", port: 443) == .passThrough)
        #expect(interception.choice(host: "bank.test", port: 443) == .intercept)
        #expect(interception.choice(host: "pinned.test", port: 8443) == .passThrough)
        #expect(interception.choice(host: "pinned.test", port: 443) == .intercept)
        #expect(interception.choice(host: "ADS.test", port: 1) == .refuse)
        #expect(interception.choice(host: "x.bank.test", port: 443) == .refuse)
    }

    @Test func aLeafIsThereOnceItWasMinted() throws {
        let interception = try self.interception()
        #expect(interception.leaf(host: "h.test", serverName: "s.test") == nil)
        let leaf = try interception.mint(host: "h.test", serverName: "s.test", upstreamNames: ["u.test"])
        #expect(leaf.names.dnsNames == ["h.test", "s.test", "u.test"])
        #expect(interception.leaf(host: "h.test", serverName: "s.test") === leaf)
        #expect(interception.leaf(host: "h.test", serverName: nil) == nil)
        #expect(throws: CertificateError.self) { _ = try interception.mint(host: "a..b", serverName: nil, upstreamNames: []) }
    }

    @Test func whoeverMintsSecondGetsTheSameLeaf() throws {
        let interception = try self.interception()
        let leaf = try interception.mint(host: "h.test", serverName: "h.test", upstreamNames: ["u.test"])
        #expect(try interception.mint(host: "h.test", serverName: "h.test", upstreamNames: []) === leaf)
    }

    @Test func aHostHasOneLeafHoweverManyThreadsAskForItAtOnce() throws {
        let interception = try self.interception()
        let leaves = Guarded<[Leaf]>([])
        DispatchQueue.concurrentPerform(iterations: 64) { turn in
            guard let leaf = try? interception.mint(host: "h\(turn % 4).test", serverName: nil, upstreamNames: []) else { return }
            leaves.withLock { $0.append(leaf) }
        }
        let all = leaves.withLock { $0 }
        #expect(all.count == 64)
        #expect(Set(all.map { ObjectIdentifier($0) }).count == 4)
    }

    @Test func anAuthorityThatIsNoneIsRefusedAtTheStart() throws {
        let one = try TestAuthority()
        let other = try TestAuthority()
        #expect(throws: CertificateError.self) {
            _ = try Interception(TLSSettings(certificatePEM: one.certificatePEM, keyPEM: other.keyPEM))
        }
        let error = #expect(throws: ProxyError.self) {
            _ = try RunningProxy(.passthrough) { $0.tls = TLSSettings(certificatePEM: one.certificatePEM, keyPEM: other.keyPEM) }
        }
        #expect(error?.code == .invalidAuthority)
    }
}
