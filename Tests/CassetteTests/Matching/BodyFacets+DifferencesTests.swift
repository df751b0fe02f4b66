import Testing

@testable import CassettePlayback

struct BodyFacetsDifferencesTests {
    @Test func equalBodiesHaveNone() {
        #expect(MatchFixture.differences("{\"a\":1}", "{ \"a\": 1.0 }", MatchFixture.json) == [])
    }

    @Test func anotherKindIsTheDifference() {
        let json = MatchFixture.live("{}", MatchFixture.json)
        #expect(json.differences(fromRecorded: .none).map(\.description) == ["body is json, recorded is empty"])
        #expect(BodyFacets.none.differences(fromRecorded: json).map(\.description) == ["body is empty, recorded is json"])
    }

    @Test func bytesAreNamedByTheirOffset() {
        #expect(MatchFixture.differences("abc", "abd", MatchFixture.binary) == ["body differs at byte 2 of 3"])
        #expect(MatchFixture.differences("abc", "ab", MatchFixture.binary) == ["body differs at byte 2: 3 bytes, recorded 2"])
    }

    @Test func whatWasNotKeptIsTheRemainder() {
        let many = { (last: Int) in "[" + (0..<5000).map { "\($0)" }.joined(separator: ",") + ",\(last)]" }
        #expect(MatchFixture.differences(many(1), many(2), MatchFixture.json) == ["bodies differ after what was kept of them"])
        let facets = MatchFixture.live("[1]", MatchFixture.json)
        #expect(MatchFixture.live("[2]", MatchFixture.json).digestOnly.differences(fromRecorded: facets.digestOnly) == [.bodyRemainder])
    }

    @Test func soManyAreListed() {
        let live = "[" + (0..<4000).map { "\($0)" }.joined(separator: ",") + "]"
        let recorded = "[" + (0..<4000).map { "\($0 + 1)" }.joined(separator: ",") + "]"
        #expect(MatchFixture.differences(live, recorded, MatchFixture.json).count == BodyFacets.differenceLimit)
    }
}
