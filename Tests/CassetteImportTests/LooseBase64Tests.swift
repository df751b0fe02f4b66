import Testing
@testable import CassetteImport

@Suite struct LooseBase64Tests {
    @Test func lineEndsMissingPaddingAndTheOtherAlphabetAreRead() {
        #expect(LooseBase64.decode(Array("aGVs\nbG8=".utf8)[...]) == Array("hello".utf8))
        #expect(LooseBase64.decode(Array("aGVsbG8".utf8)[...]) == Array("hello".utf8))
        #expect(LooseBase64.decode(Array("-_8=".utf8)[...]) == [0xFB, 0xFF])
        #expect(LooseBase64.decode(Array("a!".utf8)[...]) == nil)
    }
}
