import Testing

@testable import CassettePlayback
@testable import TapeBytes

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

    @Test func aDigestStandsForBytes() {
        var facet = ByteFacet(digest: PortableSHA256())
        facet.take(sha256: [1, 2], size: 9)
        #expect(facet.finish() == [1, 2])
        #expect(facet.size == 9)
        #expect(facet.whole == nil)
    }
}
