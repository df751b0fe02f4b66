import Testing

@testable import CassetteModel
@testable import CassetteRedaction

@Suite struct SourcePassTests {
    @Test func codingsComeOffAndOn() throws {
        let wire = RedactionFixtures.gzip(Array("{\"token\":\"abc123\"}".utf8))
        let text = TextRedaction(rules: .standard, vault: SecretVault())
        var pass = SourcePass(text: text, headers: HeaderFields(), names: [.gzip])
        try pass.run(ByteSource(wire)) { _ in }
        var octets: [UInt8] = []
        try pass.run(ByteSource(wire), codings: pass.codings) { octets.append(contentsOf: $0) }
        #expect(DecodedText.gunzip(octets) == "{\"token\":\"{{token:1}}\"}")
        #expect(pass.count == 1)
        #expect(pass.problem == nil)
    }
}
