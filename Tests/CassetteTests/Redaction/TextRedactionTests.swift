import Testing

@testable import CassetteRedaction
@testable import TapeBytes

@Suite struct TextRedactionTests {
    private func redacted(_ text: String, _ kind: TextKind = .plain, vault: SecretVault) -> String {
        let octets = Array(text.utf8)
        let edits = octets.withUnsafeBytes { TextRedaction(rules: .standard, vault: vault).edits(in: $0, as: kind) }
        return String(decoding: edits.applied(to: octets), as: UTF8.self)
    }

    @Test func whatIsKnownIsFoundInEachSpelling() {
        let vault = SecretVault()
        _ = vault.placeholder(for: Array("a\"b/c d1".utf8), kind: "k")
        #expect(self.redacted(#"x a"b/c d1 y"#, vault: vault) == "x {{k:1}} y")
        #expect(self.redacted(#"{"x":"a\"b\/c d1"}"#, vault: vault) == #"{"x":"{{k:1}}"}"#)
        #expect(self.redacted("a%22b%2Fc%20d1", vault: vault) == "%7B%7Bk:1%7D%7D")
        #expect(self.redacted("a%22b%2fc+d1", vault: vault) == "%7B%7Bk:1%7D%7D")
        #expect(self.redacted("a&quot;b/c d1", vault: vault) == "{{k:1}}")
    }

    @Test func anEscapeIsNotCutInTwo() {
        let vault = SecretVault()
        _ = vault.placeholder(for: Array("nabc123xyz".utf8), kind: "k")
        #expect(self.redacted(#"{"x":"1\nabc123xyz"}"#, vault: vault) == #"{"x":"1{{k:1}}"}"#)
    }

    @Test func aNumberThatIsASecretStaysANumber() {
        let vault = SecretVault()
        _ = vault.placeholder(for: Array("4929123412".utf8), kind: "password")
        #expect(self.redacted(#"{"a":4929123412,"b":"4929123412"}"#, vault: vault) == #"{"a":0,"b":"{{password:1}}"}"#)
    }

    @Test func hexAndUTF16StayWhatTheyAre() {
        let vault = SecretVault()
        _ = vault.placeholder(for: Array("top-secret-77".utf8), kind: "k")
        #expect(self.redacted("id " + Hex.encode(Array("top-secret-77".utf8)) + ".", vault: vault) == "id 7b7b6b3a317d7d.")
        #expect(self.redacted(Hex.encode(Array("top-secret-77".utf8)).uppercased(), vault: vault) == "7B7B6B3A317D7D")
        let wide = Array("<top-secret-77>".utf8)
        let little = String(decoding: wide.flatMap { [$0, 0] }, as: UTF8.self)
        #expect(self.redacted(little, vault: vault) == String(decoding: Array("<{{k:1}}>".utf8).flatMap { [$0, 0] }, as: UTF8.self))
        let big = String(decoding: wide.flatMap { [0, $0] }, as: UTF8.self)
        #expect(self.redacted(big, vault: vault) == String(decoding: Array("<{{k:1}}>".utf8).flatMap { [0, $0] }, as: UTF8.self))
    }
}
