@testable import CassetteRedaction
import TapeBytes
import Testing

/// Secrets that are JSON numbers.
@Suite struct NumberPlaceholderTests {
    private func redacted(_ text: String) -> String {
        let redaction = TextRedaction(rules: .standard, vault: SecretVault())
        return Array(text.utf8).withUnsafeBytes { String(decoding: redaction.edits(in: $0).applied(to: $0), as: UTF8.self) }
    }

    @Test func eachNumberHasItsOwn() {
        let text = #"[{"access_token": 9876543210123456}, {"access_token": 8876543210123457}, {"access_token": 9876543210123456}]"#
        #expect(
            self.redacted(text) == #"[{"access_token": 2002900001}, {"access_token": 2002900002}, {"access_token": 2002900001}]"#)
    }

    @Test func itIsNotRedactedAgain() {
        let text = #"{"access_token": 2002900007}"#
        #expect(self.redacted(text) == text)
    }

    @Test(
        arguments: [
            ("2002900001", 1), ("2002999999", 99_999), ("2002900000", nil), ("2003000001", nil), ("200290000", nil), ("20029000010", nil),
            ("200290000x", nil),
        ] as [(String, Int?)])
    func itsNumberIsRead(text: String, number: Int?) {
        #expect(Array(text.utf8).withUnsafeBytes { NumberPlaceholder.number($0) } == number)
    }

    @Test func itIsFoundOutsideOfLongerWords() {
        func first(_ text: String) -> Int? { Array(text.utf8).withUnsafeBytes { NumberPlaceholder.first(in: $0, from: 0)?.number } }
        #expect(first("t=2002900003&x") == 3 && first("2002900003") == 3)
        #expect(first("12002900003") == nil && first("2002900003a") == nil && first("20029") == nil)
        #expect(first("12002900003 2002900004") == 4)
    }

    @Test func numbersAreWrittenWithinTheirLimits() {
        #expect(NumberPlaceholder.bytes(1) == Array("2002900001".utf8))
        #expect(NumberPlaceholder.bytes(0) == [48] && NumberPlaceholder.bytes(100_000) == [48])
    }
}
