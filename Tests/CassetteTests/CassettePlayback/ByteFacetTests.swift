@testable import CassettePlayback
@testable import TapeBytes
import Testing

struct ByteFacetTests {
    private func facet(_ pieces: [String], keeping: Int = 100) -> (facet: ByteFacet, digest: String) {
        var facet = ByteFacet(digest: PortableSHA256(), keeping: keeping)
        for piece in pieces { Array(piece.utf8).withUnsafeBytes { facet.push($0) } }
        let digest = Hex.encode(facet.finish())
        return (facet, digest)
    }

    @Test func isTheDigestOfItsBytes() {
        #expect(self.facet(["a", "bc"]).digest == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(self.facet(["abcdef"], keeping: 3).facet.beginning == Array("abc".utf8))
        #expect(self.facet(["abcdef"], keeping: 3).facet.size == 6)
        #expect(self.facet(["abcdef"], keeping: 3).facet.whole == nil)
        #expect(self.facet(["abc"], keeping: 3).facet.whole == Array("abc".utf8))
    }

    @Test func placeholdersAreAlike() {
        let first = self.facet(["x{{a:1", "}}y"])
        #expect(first.digest == self.facet(["x{{b:222}}y"]).digest)
        #expect(first.facet.hasMarks)
        #expect(first.facet.size == 7)
    }

    @Test func aDigestRepresentsBytes() {
        var facet = ByteFacet(digest: PortableSHA256())
        facet.take(sha256: [1, 2], size: 9)
        #expect(facet.finish() == [1, 2])
        #expect(facet.size == 9)
        #expect(facet.whole == nil)
    }
}

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

    @Test func invalidTextIsComparedAsBytes() {
        #expect(self.text([0xFF, 0x41]).kind == .bytes)
        #expect(self.text([0xFF, 0x41]) == MatchFixture.live([0xFF, 0x41], MatchFixture.binary))
    }
}
