import Testing
@testable import CassetteImport

@Suite struct LooseBase64Tests {
    @Test func lineEndsMissingPaddingAndTheOtherAlphabetAreRead() {
        #expect(LooseBase64.decode(Array("aGVs\nbG8=".utf8)[...]) == Array("hello".utf8))
        #expect(LooseBase64.decode(Array("aGVsbG8".utf8)[...]) == Array("hello".utf8))
        #expect(LooseBase64.decode(Array("-_8=".utf8)[...]) == [0xFB, 0xFF])
        #expect(LooseBase64.decode(Array("a!".utf8)[...]) == nil)
    }

    /// Digits after the padding, too much of it, and a digit that is no byte.
    @Test(arguments: ["YQ==YWJj", "YWJjZ", "YQ===", "YWJj=", "=", "YQ=="]) func otherTextsAreNone(_ text: String) {
        #expect((LooseBase64.decode(Array(text.utf8)[...]) == nil) == (text != "YQ=="))
    }
}
