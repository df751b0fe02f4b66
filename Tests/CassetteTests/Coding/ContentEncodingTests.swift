import Testing

@testable import CassetteModel

struct ContentEncodingTests {
    private func encoding(_ lines: String...) -> ContentEncoding { ContentEncoding(HeaderFields(lines)) }

    @Test func soleCodingsAreKnown() {
        #expect(self.encoding("Content-Encoding: gzip") == .coded([.gzip]))
        #expect(self.encoding("content-encoding:X-GZip ") == .coded([.gzip]))
        #expect(self.encoding("Content-Encoding: deflate") == .coded([.deflate]))
        #expect(self.encoding("Content-Type: gzip") == ContentEncoding.none)
        #expect(self.encoding("Content-Encoding: ") == ContentEncoding.none)
        #expect(self.encoding("Content-Encoding: identity, ,") == ContentEncoding.none)
        #expect(self.encoding("Content-Encoding: identity", "Content-Encoding: gzip") == .coded([.gzip]))
    }

    @Test func severalCodingsAreListedInTheOrderApplied() {
        #expect(self.encoding("Content-Encoding: gzip, identity, deflate") == .coded([.gzip, .deflate]))
        #expect(self.encoding("Content-Encoding: deflate", "Content-Encoding: x-gzip") == .coded([.deflate, .gzip]))
    }

    @Test func aListWithAnUnknownCodingIsOneClaim() {
        #expect(self.encoding("Content-Encoding: gzip, Foo") == .other("gzip, foo"))
        #expect(self.encoding("Content-Encoding: compress", "Content-Encoding: gzip") == .other("compress, gzip"))
        #expect(self.encoding("Content-Encoding: exi").fileExtension == nil)
    }

    @Test(arguments: [ContentEncoding.Name.br, .zstd])
    func whatTheBuildDoesNotKnowKeepsItsName(name: ContentEncoding.Name) {
        let encoding = self.encoding("Content-Encoding: \(name.rawValue)")
        #expect(encoding == (name.isSupported ? .coded([name]) : .other(name.rawValue)))
        #expect(encoding.fileExtension == (name == .br ? "br" : "zst"))
    }

    @Test func moreCodingsThanAnyoneAppliesAreNotDecoded() {
        let names = Array(repeating: "gzip", count: ContentEncoding.limit + 1).joined(separator: ", ")
        #expect(self.encoding("Content-Encoding: \(names)") == .other(String(names.prefix(64))))
        #expect(self.encoding("Content-Encoding: \(names.dropLast(6))") == .coded(Array(repeating: .gzip, count: 8)))
    }

    @Test func anEndlessListStaysPrintable() {
        let hostile = "Content-Encoding: \u{1b}[2J" + String(repeating: "x\u{e9},", count: 50_000)
        guard case .other(let names) = self.encoding(hostile) else { return #expect(Bool(false)) }
        #expect(names.utf8.count <= 80)
        #expect(names.utf8.allSatisfy { $0 >= 32 && $0 < 127 })
    }
}
