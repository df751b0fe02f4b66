import Testing
@testable import TapeProxy

@Suite struct TrimRuleTests {
    @Test func isDueOnceWhenACrowdHasGone() {
        var rule = TrimRule()
        #expect(
            [10, 400, 2000, 900, 501, 499, 100, 0].map { rule.isDue(count: $0) } == [false, false, false, false, false, true, false, false])
    }

    @Test func aFewAreNoCrowd() {
        var rule = TrimRule()
        #expect([TrimRule.crowd - 1, 0].map { rule.isDue(count: $0) } == [false, false])
    }

    @Test func theNextCrowdCountsAnew() {
        var rule = TrimRule()
        #expect([1000, 0, 600, 150, 0].map { rule.isDue(count: $0) } == [false, true, false, true, false])
    }
}
