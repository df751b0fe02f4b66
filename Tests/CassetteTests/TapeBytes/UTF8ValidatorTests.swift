@testable import TapeBytes
import TapeTestSupport
import Testing

@Suite struct UTF8ValidatorTests {
    @Test func itAgreesWithTheStandardLibrary() {
        var generator = SeededGenerator(seed: 5)
        let bytes: [UInt8] = [
            0x61, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC2, 0xDF, 0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF3, 0xF4, 0xF5, 0xFF,
        ]
        for _ in 0..<rounds(20_000) {
            let text = (0..<Int.random(in: 0...5, using: &generator)).map { _ in bytes[Int.random(in: 0..<bytes.count, using: &generator)] }
            #expect(UTF8Validator.isValid(text) == Array(String(decoding: text, as: UTF8.self).utf8).elementsEqual(text))
        }
    }

    @Test func aCharacterMayBeSplitBetweenPieces() {
        var validator = UTF8Validator()
        for byte in "음😀".utf8 { #expect([byte].withUnsafeBytes { validator.firstInvalid(in: $0) } == nil) }
        #expect(validator.isAtCharacterEnd)
    }

    @Test func theFirstInvalidByteIsNamed() {
        var validator = UTF8Validator()
        let bytes = Array("long enough text".utf8) + [0xED, 0xA0, 0x80]
        #expect(bytes.withUnsafeBytes { validator.firstInvalid(in: $0) } == 17)
        #expect(!UTF8Validator.isValid([0xE2, 0x82]))
    }
}

struct Latin1Tests {
    @Test func textIsUTF8WhereItCanBe() {
        #expect(Latin1.text(Array("é".utf8)) == "é")
        #expect(Latin1.text([0x61, 0xE9]) == "aé")
        #expect(Latin1.decode([0xC3, 0xA9]) == "Ã©")
    }
}
