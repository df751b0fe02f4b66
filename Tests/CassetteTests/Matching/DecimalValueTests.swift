import Testing

@testable import TapeBytes

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
