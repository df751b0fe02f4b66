@testable import TapeBytes
import TapeTestSupport
import Testing

@Suite struct JSONNumberTests {
    private func int(_ text: String) -> Int? { JSONNumber.int(Array(text.utf8)[...]) }
    private func double(_ text: String) -> Double? { JSONNumber.double(Array(text.utf8)[...]) }

    @Test func wholeNumbersFitOrAreNil() {
        #expect(self.int("0") == 0)
        #expect(self.int("-7") == -7)
        #expect(self.int(String(Int.max)) == .max)
        #expect(self.int(String(Int.min)) == .min)
        for text in ["9223372036854775808", "-9223372036854775809", "99999999999999999999999", "1.0", "1e3", "-", ""] {
            #expect(self.int(text) == nil)
        }
    }

    @Test func doublesAgreeWithTheStandardLibrary() {
        var generator = SeededGenerator(seed: 10)
        for _ in 0..<rounds(5_000) {
            let whole = Int.random(in: -99_999_999...99_999_999, using: &generator)
            let text = "\(whole).\(Int.random(in: 0...9_999_999, using: &generator))"
            #expect(self.double(text) == Double(text))
        }
        for text in ["1e3", "-0.0", "123456789012345678", "0.00000000000000001", "-1", "5"] { #expect(self.double(text) == Double(text)) }
        #expect(self.double("1e999") == nil)
    }
}

struct DecimalValueTests {
    private func value(_ text: String) -> String? {
        Array(text.utf8).withUnsafeBytes { DecimalValue($0) }.map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    @Test(arguments: [
        ("0", "0"), ("-0", "0"), ("-0.00e5", "0"), ("1", "1"), ("1.0", "1"), ("10e-1", "1"), ("0.1e+1", "1"), ("100", "1e2"),
        ("1E2", "1e2"),
        ("-12.50", "-125e-1"), ("0.001", "1e-3"), ("123456789012345678901234567890", "12345678901234567890123456789e1"),
        ("9007199254740993", "9007199254740993"), ("1e0000000000000000000005", "1e5"), ("1e999999999999999", "1e999999999999999"),
    ]) func spellingsOfAValueAreOne(text: String, expected: String) {
        #expect(self.value(text) == expected)
    }

    @Test func anExponentBeyondReckoningIsNoValue() {
        #expect(self.value("1e1000000000000000") == nil)
        #expect(self.value("1e-99999999999999999999999") == nil)
    }

    @Test func neighboursDiffer() {
        #expect(self.value("9007199254740993") != self.value("9007199254740992"))
        #expect(self.value("0.1") != self.value("0.10000000000000001"))
    }
}
