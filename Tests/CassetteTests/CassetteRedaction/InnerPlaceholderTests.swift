@testable import CassetteModel
@testable import CassetteRedaction
import TapeBytes
import Testing

/// Values that a client makes of a token that it got.
@Suite struct InnerPlaceholderTests {
    private static let token = "tokAlice0123456789ab"

    /// The text after another one in which the token was learned.
    private func redacted(_ text: String, kind: TextKind = .plain, knowing learned: String = #"{"access_token":"\#(token)"}"#) -> String {
        let redaction = TextRedaction(rules: .standard, vault: SecretVault())
        for text in [learned] { Array(text.utf8).withUnsafeBytes { _ = redaction.edits(in: $0) } }
        return Array(text.utf8).withUnsafeBytes { String(decoding: redaction.edits(in: $0, as: kind).applied(to: $0), as: UTF8.self) }
    }

    @Test func thePlaceholderOfTheTokenFollowsThatOfTheValue() {
        #expect(
            self.redacted(#"{"password":"pre-\#(Self.token)"}"#) == "{\"password\":\"{{password:1}}{{access_token:1}}\"}")
        #expect(self.redacted("password=pre-\(Self.token)", kind: .form).contains("access_token"))
    }

    @Test func theTokenAloneHasItsOwnPlaceholder() {
        #expect(self.redacted(#"{"access_token":"\#(Self.token)"}"#) == "{\"access_token\":\"{{access_token:1}}\"}")
    }

    /// That a value contains a short one may be chance, and would tell much about it.
    @Test func shortSecretsAreNotNamed() {
        let text = self.redacted(#"{"password":"Summer2025-and-more"}"#, knowing: #"{"password":"Summer2025"}"#)
        #expect(text == "{\"password\":\"{{password:2}}\"}")
    }

    @Test func theResultIsNotRedactedAgain() {
        let once = self.redacted(#"{"password":"pre-\#(Self.token)"}"#)
        #expect(self.redacted(once) == once)
    }
}
