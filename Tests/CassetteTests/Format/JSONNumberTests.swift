import TapeTestSupport
import Testing

@testable import TapeBytes

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
