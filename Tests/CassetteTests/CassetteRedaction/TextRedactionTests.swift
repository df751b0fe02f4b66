@testable import CassetteRedaction
@testable import TapeBytes
import Testing

@Suite struct TextRedactionTests {
    /// Every position of such a text belongs to many secrets.
    @Test func secretsOfEqualLettersCostNoMoreThanTheirNumber() {
        func work(_ count: Int) -> Int {
            let text = (3..<count).map { "{\"password\":\"\(String(repeating: "a1", count: $0))\"}\n" }.joined()
            let limit = 1 << 40
            let budget = SearchBudget(work: limit)
            var redaction = TextRedaction(rules: .standard, vault: SecretVault())
            redaction.budget = budget
            let redacted = Array(text.utf8).withUnsafeBytes { redaction.edits(in: $0).applied(to: $0) }
            #expect(!String(decoding: redacted, as: UTF8.self).contains("a1a1"))
            return budget.workDone
        }
        #expect(work(200) < 40 * work(50))
    }

    private func redacted(_ text: String, _ kind: TextKind = .plain, vault: SecretVault) -> String {
        let bytes = Array(text.utf8)
        let edits = bytes.withUnsafeBytes { TextRedaction(rules: .standard, vault: vault).edits(in: $0, as: kind) }
        return String(decoding: edits.applied(to: bytes), as: UTF8.self)
    }

    @Test func knownSecretIsFoundInEverySpelling() {
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
        #expect(self.redacted(#"{"a":4929123412,"b":"4929123412"}"#, vault: vault) == #"{"a":2002900001,"b":"{{password:1}}"}"#)
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

@Suite struct PlaceholderSpellingTests {
    private func spelled(_ kind: TextKind, _ spelling: Finding.Spelling, in text: String = "", count: Int = 4) -> String {
        let bytes = Array(text.utf8).withUnsafeBytes {
            PlaceholderSpelling(kind, in: $0).bytes(Placeholder(kind: "k", number: 1), range: 0..<count, spelling: spelling)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func fitsWhatItStandsIn() {
        #expect(self.spelled(.plain, .json) == "{{k:1}}")
        #expect(self.spelled(.plain, .query) == "%7B%7Bk:1%7D%7D")
        #expect(self.spelled(.url, .query) == "{{k:1}}")
        #expect(self.spelled(.url, .user) == "%7B%7Bk%3A1%7D%7D")
        #expect(self.spelled(.plain, .number) == "2002900001")
        #expect(self.spelled(.form, .form, in: "a=%2f") == "%7b%7bk%3a1%7d%7d")
        #expect(self.spelled(.form, .form, in: "a=b:c") == "%7B%7Bk:1%7D%7D")
        #expect(self.spelled(.binary, .plain, count: 9) == "{{k:1}}**")
        #expect(self.spelled(.binary, .plain, count: 3) == "{{k")
    }
}
