import Testing

@testable import CassetteStore

@Suite struct CassetteIndexTests {
    @Test func theNextInteractionGoesAfterTheLast() {
        var index = CassetteIndex()
        index.headEnd = 30
        index.interactions = [34..<80, 86..<120]
        index.arrayEnd = 123
        #expect(index.insertion == 120)
    }

    @Test func theFirstInteractionGoesAfterTheBracket() {
        var index = CassetteIndex()
        index.headEnd = 30
        #expect(index.insertion == 30)
    }

    @Test func aFileTornBeforeTheBracketHasNoPlace() {
        #expect(CassetteIndex().insertion == nil)
    }
}
