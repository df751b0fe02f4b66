import TapeCore
import Testing
@testable import TapeProxy

@Suite struct SessionOrderSessionTests {
    @Test func aSessionIsAsItWasOrdered() throws {
        let session = try SessionOrder(cassette: "a.json", mode: .all, repetition: .last, replayOrder: .strict).session(for: nil)
        #expect(session.mode == .all && session.repetition == .last && session.order == .strict)
        #expect(!session.looksUp && session.mayForward)
    }

    @Test func rulesAreLaidOverTheStandardOnes() throws {
        let rules = MatchRuleTexts(match: ["method", "path"])
        let session = try SessionOrder(cassette: "a.json", rules: rules).session(for: nil)
        #expect(session.rules.texts == (try MatchRules.standard.adding(rules)).texts)
    }
}
