import Testing

@testable import TapeCore

struct ContentEncodingTests {
    private func encoding(_ lines: String...) -> ContentEncoding { ContentEncoding(HeaderFields(lines)) }

    @Test func soleCodingsAreKnown() {
        #expect(self.encoding("Content-Encoding: gzip") == .gzip)
        #expect(self.encoding("content-encoding:X-GZip ") == .gzip)
        #expect(self.encoding("Content-Encoding: deflate") == .deflate)
        #expect(self.encoding("Content-Type: gzip") == ContentEncoding.none)
        #expect(self.encoding("Content-Encoding: ") == ContentEncoding.none)
        #expect(self.encoding("Content-Encoding: identity, ,") == ContentEncoding.none)
        #expect(self.encoding("Content-Encoding: identity", "Content-Encoding: gzip") == .gzip)
    }

    @Test func severalCodingsAreOneClaim() {
        #expect(self.encoding("Content-Encoding: gzip, gzip") == .other("gzip, gzip"))
        #expect(self.encoding("Content-Encoding: deflate", "Content-Encoding: br") == .other("deflate, br"))
        #expect(self.encoding("Content-Encoding: br").fileExtension == "br")
    }

    @Test func anEndlessListStaysPrintable() {
        let hostile = "Content-Encoding: \u{1b}[2J" + String(repeating: "x\u{e9},", count: 50_000)
        guard case .other(let names) = self.encoding(hostile) else { return #expect(Bool(false)) }
        #expect(names.utf8.count <= 80)
        #expect(names.utf8.allSatisfy { $0 >= 32 && $0 < 127 })
    }
}
