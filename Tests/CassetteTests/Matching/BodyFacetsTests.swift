import Testing

@testable import CassettePlayback

struct BodyFacetsTests {
    @Test func theDigestAloneIsEqual() {
        let facets = MatchFixture.live("{\"a\":1}", MatchFixture.json)
        #expect(facets.digestOnly == facets)
        #expect(facets.digestOnly.facets.isEmpty)
        #expect(facets.digestOnly.count == 2)
        #expect(Set([facets, facets.digestOnly]).count == 1)
    }

    @Test func kindsDoNotMix() {
        #expect(MatchFixture.live("1", MatchFixture.text) != MatchFixture.live("1", MatchFixture.json))
        #expect(BodyFacets.none.kind == .none)
    }
}
