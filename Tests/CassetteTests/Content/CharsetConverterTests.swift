import Testing

@testable import TapeBytes

@Suite struct CharsetConverterTests {
    @Test func nothingIsConvertedToNothing() {
        #expect(CharsetConverter.convert([], from: "UTF-8", to: "EUC-KR") == [])
    }

    @Test func anUnknownNameIsNil() {
        #expect(CharsetConverter.convert([65], from: "UTF-8", to: "NO-SUCH-CHARSET") == nil)
    }

    @Test func aCharacterHeldBackForAnotherComesAtTheEnd() {
        // windows-1258 waits for a tone mark after a vowel.
        #expect(CharsetConverter.convert([0x41], from: "CP1258", to: "UTF-8") == [65])
    }

    @Test func longTextsFit() {
        let text = Array(String(repeating: "음식😀", count: 20_000).utf8)
        let bytes = CharsetConverter.convert(text, from: "UTF-8", to: "GB18030")
        #expect(bytes.flatMap { CharsetConverter.convert($0, from: "GB18030", to: "UTF-8") } == text)
    }
}
