@testable import CassetteFormat
import Testing

struct DecodingBudgetTests {
    private static let millisecond: UInt64 = 1_000_000

    private func ask(_ budget: inout DecodingBudget, now: UInt64) -> Bool { budget.mayDecode(now: now) }

    @Test func spentTimeIsRegainedAtTwoPercent() {
        var budget = DecodingBudget(now: 0)
        #expect(self.ask(&budget, now: 0))
        budget.spent(60 * Self.millisecond, now: 0)
        #expect(!self.ask(&budget, now: 0))
        #expect(!self.ask(&budget, now: 500 * Self.millisecond))
        #expect(self.ask(&budget, now: 501 * Self.millisecond))
    }

    @Test func savingsEndAtTheCap() {
        var budget = DecodingBudget(now: 0)
        #expect(self.ask(&budget, now: .max))
        #expect(budget.balance == DecodingBudget.cap)
    }

    @Test func manyShortStepsEarnAsMuchAsOneLong() {
        var budget = DecodingBudget(now: 0)
        budget.spent(UInt64(DecodingBudget.cap), now: 0)
        for now in 0...UInt64(5000) { _ = budget.mayDecode(now: now) }
        #expect(budget.balance == 100)
    }

    @Test func aClockThatGoesBackEarnsNothing() {
        var budget = DecodingBudget(now: 1000)
        budget.spent(UInt64(DecodingBudget.cap), now: 1000)
        #expect(!self.ask(&budget, now: 0))
        #expect(!self.ask(&budget, now: 1000))
    }

    @Test func absurdTimesDoNotTrap() {
        var budget = DecodingBudget(now: 0)
        for _ in 0..<3 { budget.spent(.max, now: 0) }
        #expect(budget.balance == .min)
        #expect(!self.ask(&budget, now: .max))
    }
}
