@testable import TapeBytes
import Testing

@Suite struct CharsetTests {
    private func candidates(_ label: String, _ bytes: [UInt8] = []) -> [Charset] {
        bytes.withUnsafeBytes { Charset.candidates(label: label, beginning: $0) }
    }

    @Test func textIsReadUnderAnyName() {
        #expect(Charset.text([0xC0, 0xBD], label: "ks_c_5601-1987") == "음")
        #expect(Charset.text([0xE9], label: "iso-8859-1") == "é")
        #expect(Charset.text(Array("음".utf8), label: "utf8") == "음")
        #expect(Charset.text([0xFF], label: "utf-8") == nil)
        #expect(Charset.text([0xFF], label: "euc-kr") == nil)
        #expect(Charset.text([65], label: "x-none") == nil)
    }

    @Test(arguments: Charset.allCases)
    func everyCharsetIsKnownToThisSystem(_ charset: Charset) {
        let text = Array("plain\r\ntext".utf8)
        let bytes = charset.encode(text)
        #expect(bytes.flatMap { charset.decode($0) } == text)
    }

    @Test func utf16WithoutAByteOrderMarkIsLittleEndianWhereNothingTells() {
        #expect(self.candidates("utf-16", [0x4C, 0xC7]) == [.utf16LittleEndian])
        #expect(self.candidates("utf-16", [0, 0x41]) == [.utf16BigEndian])
    }

    @Test func knownTextsHaveKnownBytes() {
        #expect(Charset.eucKR.encode(Array("음식".utf8)) == [0xC0, 0xBD, 0xBD, 0xC4])
        #expect(Charset.shiftJIS.encode(Array("日本".utf8)) == [0x93, 0xFA, 0x96, 0x7B])
        #expect(Charset.gb18030.encode(Array("中文".utf8)) == [0xD6, 0xD0, 0xCE, 0xC4])
        #expect(Charset.utf16BigEndian.encode(Array("é😀".utf8)) == [0, 0xE9, 0xD8, 0x3D, 0xDE, 0])
        #expect(Charset.windows1252.decode([0x80]) == Array("€".utf8))
        #expect(Charset.windows949.encode(Array("똠".utf8)) == [0x8C, 0x63])
    }

    @Test func unmappableBytesAreNotReplaced() {
        #expect(Charset.latin1.encode(Array("음".utf8)) == nil)
        #expect(Charset.eucKR.decode([0xC0]) == nil)
        #expect(Charset.utf16LittleEndian.decode([1]) == nil)
        #expect(Charset.utf16LittleEndian.decode([0, 0xD8]) == nil)
    }

    @Test func labelsAreTakenAsBrowsersTakeThem() {
        #expect(self.candidates("iso-8859-1") == [.latin1, .windows1252])
        #expect(self.candidates("euc-kr") == [.eucKR, .windows949])
        #expect(self.candidates("gb2312") == [.gb18030])
        #expect(self.candidates("cp1251") == [.windows1251] && self.candidates("windows-1258") == [.windows1258])
        #expect(self.candidates("utf-8").isEmpty && self.candidates("").isEmpty && self.candidates("iso-2022-cn-ext").isEmpty)
    }

    @Test func aByteOrderMarkIsStrongerThanALabel() {
        #expect(self.candidates("euc-kr", [0xFF, 0xFE, 0x41, 0]) == [.utf16LittleEndian])
        #expect(self.candidates("", [0xFE, 0xFF]) == [.utf16BigEndian])
        #expect(self.candidates("utf-16", [0, 0x41, 0, 0x42]) == [.utf16BigEndian])
        #expect(self.candidates("utf-16", [0x41, 0, 0x42, 0]) == [.utf16LittleEndian])
    }
}

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
