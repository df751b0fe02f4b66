import Testing

@testable import TapeCore

@Suite struct BodyRedactionTests {
    private func redacted(_ wire: [UInt8], _ lines: [String], isComplete: Bool = true) -> (BodyRedaction.Result?, [String]) {
        var notes: [String] = []
        let redaction = BodyRedaction(content: ContentRedaction(text: TextRedaction(rules: .standard, vault: SecretVault())))
        return (redaction.redacted(wire, headers: HeaderFields(lines), isComplete: isComplete, notes: &notes), notes)
    }

    @Test func codingsAreTakenOffAndPutOn() {
        let (result, notes) = self.redacted(RedactionFixtures.gzip(Array("{\"token\":\"abc123\"}".utf8)), ["Content-Encoding: gzip"])
        #expect(DecodedText.gunzip(result?.octets ?? []) == "{\"token\":\"{{token:1}}\"}")
        #expect(notes == [])
    }

    @Test func aBodyWithoutSecretsIsNotCodedAnew() {
        #expect(self.redacted(RedactionFixtures.gzip(Array("{\"a\":1}".utf8)), ["Content-Encoding: gzip"]).0 == nil)
    }

    @Test func aBrokenBodyIsKeptUpToItsBreak() {
        let wire = Array(RedactionFixtures.gzip(Array("{\"token\":\"abc123\"}".utf8)).dropLast(4))
        let (result, notes) = self.redacted(wire, ["Content-Encoding: gzip"])
        #expect(result != nil)
        #expect(DecodedText.gunzip(result?.octets ?? []) == "not whole")
        #expect(notes == ["only what stands in front of a break in its content coding is kept, since secrets stood there"])
    }

    @Test func anUnknownCodingIsNamed() {
        let (result, notes) = self.redacted(Array("abc".utf8), ["Content-Encoding: compress"])
        #expect(result == nil)
        #expect(notes == ["not searched for secrets behind the content coding \"compress\""])
    }
}
