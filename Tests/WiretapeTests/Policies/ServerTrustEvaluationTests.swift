import Foundation
import TapeTrust
import Testing
@testable import Wiretape

#if canImport(Security)
import Security
#endif

@Suite struct ServerTrustEvaluationTests {
    private typealias Question = ServerTrustEvaluation.Question

    private static let (leaf, root, other) = (SampleCertificate.rsa, SampleCertificate.ec, SampleCertificate.ed)
    private static let untrusted = ServerTrustError(.untrusted, "no authority")

    /// The system's arguments and the result; the host is one that the leaf names.
    private func evaluate(
        _ trust: ServerTrust, host: String = "www.example.com", sent: [[UInt8]] = [Self.leaf, Self.root],
        built: Result<[[UInt8]], ServerTrustError> = .success([Self.leaf, Self.root])
    ) -> (asked: [Question], code: ServerTrustError.Code?) {
        var asked: [Question] = []
        let failure = ServerTrustEvaluation(trust: trust, host: host).evaluate(sent) { question in
            asked.append(question)
            return built
        }
        return (asked, failure?.code)
    }

    private func key(_ der: [UInt8]) throws -> [UInt8] { try #require(Certificate(der)?.publicKeyPin).digest }

    @Test func theDefaultIsTheSystems() {
        #expect(self.evaluate(.default) == ([Question(host: "www.example.com")], nil))
        #expect(self.evaluate(.defaultEvaluation(validatesHost: false)) == ([Question()], nil))
        #expect(self.evaluate(.default, built: .failure(Self.untrusted)).code == .untrusted)
    }

    @Test func pinnedCertificatesAreTheOnlyAnchors() {
        let pinned = ServerTrust.pinnedCertificates([Self.root])
        #expect(self.evaluate(pinned) == ([Question(anchors: [Self.root], host: "www.example.com")], nil))
        #expect(self.evaluate(.pinnedCertificates([Self.root], validatesHost: false)).asked == [Question(anchors: [Self.root])])
        #expect(self.evaluate(pinned, built: .failure(Self.untrusted)).code == .untrusted)
        // Only the chain that the system built counts, not the other certificates that were sent.
        #expect(self.evaluate(pinned, sent: [Self.leaf, Self.root], built: .success([Self.leaf, Self.other])).code == .pinMismatch)
        #expect(self.evaluate(.pinnedCertificates([])).code == .pinMismatch)
    }

    @Test func withoutItsChainTheServersOwnCertificateIsPinned() {
        #expect(self.evaluate(.pinnedCertificates([Self.leaf], validatesChain: false)) == ([], nil))
        #expect(self.evaluate(.pinnedCertificates([Self.root], validatesChain: false)) == ([], .pinMismatch))
        #expect(self.evaluate(.pinnedCertificates([Self.leaf], validatesChain: false), host: "evil.example") == ([], .hostMismatch))
        #expect(
            self.evaluate(.pinnedCertificates([Self.leaf], validatesChain: false, validatesHost: false), host: "evil.example") == ([], nil))
        #expect(self.evaluate(.pinnedCertificates([Self.leaf], validatesChain: false), sent: []) == ([], .hostMismatch))
        #expect(
            self.evaluate(.pinnedCertificates([Self.leaf], validatesChain: false, validatesHost: false), sent: []) == ([], .pinMismatch))
        #expect(self.evaluate(.pinnedCertificates([Self.leaf], validatesChain: false), host: "127.0.0.1") == ([], nil))
    }

    @Test func aPinnedKeyMayBeAnyOfTheChainThatHolds() throws {
        #expect(self.evaluate(.pinnedPublicKeys([try self.key(Self.root)])) == ([Question(host: "www.example.com")], nil))
        #expect(self.evaluate(.pinnedPublicKeys([try self.key(Self.leaf)])).code == nil)
        #expect(self.evaluate(.pinnedPublicKeys([try self.key(Self.other)])).code == .pinMismatch)
        #expect(self.evaluate(.pinnedPublicKeys([try self.key(Self.other), try self.key(Self.leaf)])).code == nil)
        #expect(self.evaluate(.pinnedPublicKeys([try self.key(Self.root)]), built: .failure(Self.untrusted)).code == .untrusted)
    }

    @Test func withoutItsChainTheKeyIsTheServersOwn() throws {
        #expect(self.evaluate(.pinnedPublicKeys([try self.key(Self.leaf)], validatesChain: false)) == ([], nil))
        #expect(self.evaluate(.pinnedPublicKeys([try self.key(Self.root)], validatesChain: false)) == ([], .pinMismatch))
        #expect(
            self.evaluate(.pinnedPublicKeys([try self.key(Self.leaf)], validatesChain: false), host: "evil.example").code == .hostMismatch)
    }

    @Test func disabledEvaluatesNothing() {
        #expect(self.evaluate(.disabled, sent: [], built: .failure(Self.untrusted)) == ([], nil))
    }

    @Test func aFunctionSeesTheChainAsItWasSent() {
        let custom = ServerTrust.custom { chain, host in chain == [Self.leaf, Self.root] && host == "h" }
        #expect(self.evaluate(custom, host: "h") == ([], nil))
        #expect(self.evaluate(custom, host: "other") == ([], .refusedByPolicy))
    }
}

#if canImport(Security)
@Suite struct SystemTrustTests {
    private func trust(_ der: [UInt8]) throws -> SystemTrust {
        let certificate = try #require(SecCertificateCreateWithData(nil, Data(der) as CFData))
        var trust: SecTrust?
        #expect(SecTrustCreateWithCertificates(certificate, SecPolicyCreateSSL(true, nil), &trust) == errSecSuccess)
        return SystemTrust(try #require(trust))
    }

    @Test func theChainBeginsWithTheLeaf() throws { #expect(try self.trust(SampleCertificate.ec).chain.first == SampleCertificate.ec) }

    @Test func aSelfSignedCertificateIsNotTrusted() throws {
        guard case .failure(let error) = try self.trust(SampleCertificate.ec).answer(.init(host: "ec.example"), for: "ec.example") else {
            Issue.record("trusted")
            return
        }
        #expect(error.code == .untrusted && error.message.hasPrefix("the certificates of \"ec.example\" are not trusted ("))
    }
}
#endif
