import Testing

@testable import TapeBytes

struct Latin1Tests {
    @Test func textIsUTF8WhereItCanBe() {
        #expect(Latin1.text(Array("é".utf8)) == "é")
        #expect(Latin1.text([0x61, 0xE9]) == "aé")
        #expect(Latin1.decode([0xC3, 0xA9]) == "Ã©")
    }
}
