import Testing

@testable import CassettePlayback
@testable import TapeBytes

struct PlacePatternTests {
    @Test func theFirstEqualsSignDivides() throws {
        let pattern = try PlacePattern("query:ts=[0-9]+=")
        #expect(pattern.place == .queryItem("ts"))
        #expect(pattern.pattern.text == "[0-9]+=")
    }

    @Test(arguments: ["query:ts", "method=GET", "body=x", "query=x", "nowhere=x"])
    func refusesPlacesWithoutAValue(text: String) {
        #expect(throws: MatchRuleError.self) { try PlacePattern(text) }
    }
}
