@testable import TapeBytes
import CassetteModel
import Testing

@testable import WiretapeCLI

@Suite struct ConnectionWordsTests {
    private static let day: Int64 = 86_400_000_000

    private func certificate(_ subject: String, issuer: String, days: ClosedRange<Int64> = 0...10) -> RecordedCertificate {
        RecordedCertificate(
            sha256: String(repeating: "0123456789abcdef", count: 4), subject: subject, issuer: issuer,
            notBefore: Timestamp(microseconds: days.lowerBound * Self.day), notAfter: Timestamp(microseconds: days.upperBound * Self.day))
    }

    private func facts(
        _ tls: TLSDetails?, isReused: Bool = false, opening: (number: Int, tls: TLSDetails)? = nil, day: Int64 = 5
    ) -> [ConnectionWords.Fact] {
        let connection = ConnectionInfo(id: 1, remote: "192.0.2.1:443", isReused: isReused, tls: tls)
        return ConnectionWords.facts(connection, opening: opening, at: Timestamp(microseconds: day * Self.day))
    }

    @Test func aPlainConnectionIsALine() {
        #expect(self.facts(nil) == [.init(label: "connection", lines: ["1 to 192.0.2.1:443"])])
        #expect(self.facts(nil, isReused: true) == [.init(label: "connection", lines: ["1 to 192.0.2.1:443, reused"])])
    }

    @Test func aHandshakeAndItsCertificatesFollow() {
        let tls = TLSDetails(
            version: "TLSv1.3", cipher: "TLS_AES_256_GCM_SHA384", alpn: "http/1.1", sni: "example.test", isResumed: true,
            chain: [self.certificate("CN=example.test", issuer: "CN=Test CA"), self.certificate("CN=Test CA", issuer: "CN=Test CA")])
        let dates = ["valid from 1970-01-01 to 1970-01-11", "sha256 0123456789abcdef0123456789abcdef…"]
        #expect(
            self.facts(tls).dropFirst() == [
                .init(label: "tls", lines: ["TLSv1.3, TLS_AES_256_GCM_SHA384, resumed", "server name example.test, protocol http/1.1"]),
                .init(label: "certificate", lines: ["CN=example.test", "issued by CN=Test CA"] + dates),
                .init(label: "certificate", lines: ["CN=Test CA", "issued by itself"] + dates),
            ])
    }

    @Test func aReusedConnectionHasThoseOfItsOpening() {
        let opened = TLSDetails(version: "TLSv1.3", cipher: "X", chain: [self.certificate("CN=a", issuer: "CN=b")])
        let facts = self.facts(opened.withoutChain, isReused: true, opening: (4, opened))
        #expect(facts.map(\.label) == ["connection", "tls", "certificate"])
        #expect(facts.first?.lines == ["1 to 192.0.2.1:443, reused, opened by exchange 4"])
        #expect(facts.last?.lines.first == "CN=a")
    }

    @Test(arguments: [(9, ""), (11, ", expired by then"), (1, ", not valid yet then")] as [(Int64, String)])
    func datesAreHeldAgainstTheExchange(day: Int64, words: String) {
        let tls = TLSDetails(version: "TLSv1.3", cipher: "X", chain: [self.certificate("", issuer: "CN=b", days: 2...10)])
        #expect(
            self.facts(tls, day: day).last?.lines.dropLast() == [
                "without a subject", "issued by CN=b", "valid from 1970-01-03 to 1970-01-11" + words,
            ])
    }
}
