import Testing

@testable import CassettePlayback

struct BodyFacetBuilderTests {
    private let coded = ["Content-Type: application/json", "Content-Encoding: gzip"]

    @Test func cutsDoNotCount() {
        for (bytes, lines) in [
            (CodingFixtures.content, MatchFixture.json), (CodingFixtures.gzip6, self.coded),
            (Array("a=1&b={{x:1}}".utf8), MatchFixture.form),
            (Array("é{{x:1}}é".utf8), MatchFixture.text), (Array("a{{x:1}}é".utf8), MatchFixture.binary),
            (Array("not gzip".utf8), self.coded),
        ] {
            let whole = MatchFixture.live(bytes, lines)
            for cut in 0...bytes.count { #expect(MatchFixture.live(bytes, lines, cuts: [cut]) == whole, "\(lines) \(cut)") }
            #expect(MatchFixture.live(bytes, lines, cuts: Array(0..<bytes.count)) == whole)
        }
    }

    @Test func codingsDoNotCount() {
        #expect(MatchFixture.live(CodingFixtures.gzip6, self.coded) == MatchFixture.live(CodingFixtures.content, MatchFixture.json))
        #expect(MatchFixture.live(CodingFixtures.zlib, MatchFixture.json + ["Content-Encoding: deflate"]).kind == .json)
    }

    @Test func aBrokenCodingIsComparedAsItWasSent() {
        let cut = Array(CodingFixtures.gzip6.dropLast(3))
        #expect(MatchFixture.live(cut, self.coded).kind == .bytes)
        #expect(MatchFixture.live(cut, self.coded) == MatchFixture.live(cut, MatchFixture.binary))
        #expect(
            MatchFixture.live(Array("{}".utf8), MatchFixture.json + ["Content-Encoding: own"]) == MatchFixture.live("{}", MatchFixture.json)
        )
        #expect(MatchFixture.live([], self.coded) == .none)
    }

    @Test func aBombIsComparedAsItWasSent() {
        let bomb = Array(repeating: CodingFixtures.mebibyteOfZeros, count: 80).joined() + [3, 0]
        let lines = MatchFixture.binary + ["Content-Encoding: deflate"]
        #expect(MatchFixture.live(Array(bomb), lines).facets.first?.size == bomb.count)
    }

    @Test func absentAndEmptyAreEqual() {
        #expect(MatchFixture.live("", MatchFixture.json) == .none)
        #expect(MatchFixture.live("", []) == .none)
        #expect(MatchFixture.live(" ", []) != .none)
    }
}
