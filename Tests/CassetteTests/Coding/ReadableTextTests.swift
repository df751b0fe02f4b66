import Testing

@testable import CassetteFormat

struct ReadableTextTests {
    private func isReadable(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes(ReadableText.isReadable) }

    @Test func textIsReadable() {
        for text in ["", "a", "tab\tline\nreturn\r\n", "음식 🍕 \u{feff}", String(repeating: "\n\t\r x", count: 50)] {
            #expect(self.isReadable(Array(text.utf8)))
        }
    }

    @Test func oneControlCharacterAnywhereIsEnough() {
        for length in [1, 7, 8, 9, 20, 33] {
            for position in 0..<length {
                for control in [UInt8(0), 1, 8, 11, 12, 14, 27, 31, 127] {
                    for filler in [UInt8(ascii: "x"), 9, 10, 13, 32, 126] {
                        var bytes = [UInt8](repeating: filler, count: length)
                        bytes[position] = control
                        #expect(!self.isReadable(bytes))
                    }
                }
            }
        }
    }

    @Test func whatIsNotUTF8IsNotReadable() {
        for bytes: [UInt8] in [[0xff], [0xc3], [0xc0, 0xaf], [0xed, 0xa0, 0x80], Array("Größe".utf16.map { UInt8($0) })] {
            #expect(!self.isReadable(bytes))
        }
    }

    @Test func charactersMaySpanPieces() {
        let bytes = Array("음식 🍕".utf8)
        for split in 0...bytes.count {
            var text = ReadableText()
            bytes[..<split].withUnsafeBytes { text.push($0) }
            bytes[split...].withUnsafeBytes { text.push($0) }
            #expect(text.finish())
        }
    }
}
