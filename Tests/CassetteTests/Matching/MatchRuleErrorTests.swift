import Testing

@testable import CassettePlayback

struct MatchRuleErrorTests {
    @Test func isItsMessage() {
        let error = MatchRuleError(.tooMany, "too many")
        #expect("\(error)" == "too many")
        #expect("\(error.code)" == "tooMany")
    }

    @Test func codesDiffer() {
        let codes: [MatchRuleError.Code] = [.unknownRule, .unknownPlace, .badPattern, .tooMany, .badJSON]
        #expect(Set(codes).count == codes.count)
    }
}
