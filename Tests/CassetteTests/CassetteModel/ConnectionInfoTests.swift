@testable import CassetteModel
@testable import TapeBytes
import Testing

@Suite struct TLSDetailsTests {
    private func certificate(_ name: String) -> RecordedCertificate {
        RecordedCertificate(
            sha256: String(repeating: "0", count: 64), subject: name, issuer: "", notBefore: Timestamp(microseconds: 0),
            notAfter: Timestamp(microseconds: 0))
    }

    @Test func equalDetailsHaveEqualHashes() {
        let details = GoldenInteractions.details
        let same = TLSDetails(
            version: details.version, cipher: details.cipher, alpn: details.alpn, sni: details.sni, isResumed: true, chain: details.chain)
        #expect(details == same)
        #expect(details.hashValue == same.hashValue)
    }

    @Test func everyMemberCounts() {
        let base = TLSDetails(version: "a", cipher: "b")
        let others = [
            TLSDetails(version: "x", cipher: "b"), TLSDetails(version: "a", cipher: "x"), TLSDetails(version: "a", cipher: "b", alpn: ""),
            TLSDetails(version: "a", cipher: "b", sni: ""), TLSDetails(version: "a", cipher: "b", isResumed: true),
            TLSDetails(version: "a", cipher: "b", chain: [self.certificate("")]),
            TLSDetails(version: "a", cipher: "b", unknown: [UnknownMember(name: "", json: [])]),
        ]
        #expect(!others.contains(base))
        #expect(Set(others).count == others.count)
    }

    @Test func laterExchangesCarryFourMembers() {
        let later = GoldenInteractions.details.withoutChain
        #expect(later == TLSDetails(version: "TLSv1.3", cipher: "TLS_AES_256_GCM_SHA384", alpn: "http/1.1", sni: "example.test"))
        #expect(
            later.text.map { String(decoding: $0, as: UTF8.self) }
                == #"{ "version": "TLSv1.3", "cipher": "TLS_AES_256_GCM_SHA384", "alpn": "http/1.1", "sni": "example.test" }"#)
    }

    @Test func aLongChainIsCut() {
        let chain = (0..<20).map { self.certificate("\($0)") }
        #expect(TLSDetails(version: "a", cipher: "b", chain: chain).chain.map(\.subject) == (0..<16).map { "\($0)" })
    }
}
