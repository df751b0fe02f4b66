import Testing

@testable import CassettePlayback

struct TextFacetTests {
    private func text(_ bytes: [UInt8], _ charset: String? = nil) -> BodyFacets {
        MatchFixture.live(bytes, ["Content-Type: text/plain" + (charset.map { "; charset=\($0)" } ?? "")])
    }

    @Test func charactersCountAndNotTheirCharset() {
        #expect(self.text(Array("é".utf8)) == self.text([0xE9], "iso-8859-1"))
        #expect(self.text(Array("é".utf8)) == self.text([0xFF, 0xFE, 0xE9, 0], "utf-16"))
        #expect(self.text([0xEF, 0xBB, 0xBF, 0x61]) == self.text([0x61]))
        #expect(self.text(Array("é".utf8)).kind == .text)
    }

    @Test func allElseCounts() {
        #expect(self.text(Array("a\n".utf8)) != self.text(Array("a\r\n".utf8)))
        #expect(self.text(Array("a".utf8)) != self.text(Array("A".utf8)))
        #expect(MatchFixture.differences("a\nb c\nd", "a\nb x\nd", MatchFixture.text) == ["text line 2 is \"b c\", recorded is \"b x\""])
    }

    @Test func whatIsNoTextIsBytes() {
        #expect(self.text([0xFF, 0x41]).kind == .bytes)
        #expect(self.text([0xFF, 0x41]) == MatchFixture.live([0xFF, 0x41], MatchFixture.binary))
    }
}
