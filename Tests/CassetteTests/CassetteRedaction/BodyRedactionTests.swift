@testable import CassetteFormat
@testable import CassetteModel
@testable import CassetteRedaction
import Testing

@Suite struct BodyRedactionTests {
    private func redacted(_ wire: [UInt8], _ lines: [String], isComplete: Bool = true) -> (BodyRedaction.Result?, [String]) {
        var notes: [String] = []
        let redaction = BodyRedaction(content: ContentRedaction(text: TextRedaction(rules: .standard, vault: SecretVault())))
        return (redaction.redacted(wire, headers: HeaderFields(lines), isComplete: isComplete, notes: &notes), notes)
    }

    @Test func codingsAreRemovedAndAppliedAgain() {
        let (result, notes) = self.redacted(RedactionFixtures.gzip(Array("{\"token\":\"abc123\"}".utf8)), ["Content-Encoding: gzip"])
        #expect(GzipText.gunzip(result?.bytes ?? []) == "{\"token\":\"{{token:1}}\"}")
        #expect(notes == [])
    }

    @Test func aBodyWithoutSecretsIsNotEncodedAgain() {
        #expect(self.redacted(RedactionFixtures.gzip(Array("{\"a\":1}".utf8)), ["Content-Encoding: gzip"]).0 == nil)
    }

    @Test func aBrokenBodyIsKeptUpToItsBreak() {
        let wire = Array(RedactionFixtures.gzip(Array("{\"token\":\"abc123\"}".utf8)).dropLast(4))
        let (result, notes) = self.redacted(wire, ["Content-Encoding: gzip"])
        #expect(result != nil)
        #expect(GzipText.gunzip(result?.bytes ?? []) == "not whole")
        #expect(notes == ["only what stands in front of a break in its content coding is kept, since secrets stood there"])
    }

    @Test func anUnknownCodingIsNamed() {
        let (result, notes) = self.redacted(Array("abc".utf8), ["Content-Encoding: compress"])
        #expect(result == nil)
        #expect(notes == ["not searched for secrets behind the content coding \"compress\""])
    }

    @Test func bodyTooLongForMemoryWhenDecodedIsSearchedToItsEnd() throws {
        let content = Array(repeating: UInt8(ascii: "x"), count: 8_000_000) + Array(" {\"token\":\"abc123\"}".utf8)
        let wire = RedactionFixtures.gzip(content)
        // Denser than a body that may be collected in memory.
        #expect(content.count / wire.count > InflateLimits.ratio)
        let (result, notes) = self.redacted(wire, ["Content-Encoding: gzip"])
        var decoded: [UInt8] = []
        let chain = try #require(DecoderChain([.gzip], limits: .search(codedSize: wire.count)))
        _ = try result?.bytes.withUnsafeBytes { try chain.push($0) { decoded.append(contentsOf: $0) } }
        #expect(chain.finish())
        #expect(decoded.suffix(22) == Array(" {\"token\":\"{{token:1}}\"}".utf8).suffix(22))
        #expect(notes == [])
    }
}
