import Testing

@testable import CassetteFormat

struct ReadableTextTests {
    private func isReadable(_ octets: [UInt8]) -> Bool { octets.withUnsafeBytes(ReadableText.isReadable) }

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
                        var octets = [UInt8](repeating: filler, count: length)
                        octets[position] = control
                        #expect(!self.isReadable(octets))
                    }
                }
            }
        }
    }

    @Test func whatIsNotUTF8IsNotReadable() {
        for octets: [UInt8] in [[0xff], [0xc3], [0xc0, 0xaf], [0xed, 0xa0, 0x80], Array("Größe".utf16.map { UInt8($0) })] {
            #expect(!self.isReadable(octets))
        }
    }

    @Test func charactersMaySpanPieces() {
        let octets = Array("음식 🍕".utf8)
        for split in 0...octets.count {
            var text = ReadableText()
            octets[..<split].withUnsafeBytes { text.push($0) }
            octets[split...].withUnsafeBytes { text.push($0) }
            #expect(text.finish())
        }
    }
}
