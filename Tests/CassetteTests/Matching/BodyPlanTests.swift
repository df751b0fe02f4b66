import Testing

@testable import CassettePlayback

struct BodyPlanTests {
    @Test func takesWhatConcernsBodies() throws {
        let plan = try MatchRules(
            match: ["body:json", "part-order"], ignore: ["form:a", "part:b", "json:/c", "query:d"], patterns: ["form:e=x", "part:f=y"]
        ).body
        #expect(plan.match == .json)
        #expect(plan.ordersParts)
        #expect(plan.ignoredFields == [Array("a".utf8)])
        #expect(plan.ignoredParts == [Array("b".utf8)])
        #expect(plan.fieldPatterns.keys.sorted() == ["e"])
        #expect(plan.partPatterns.keys.sorted() == ["f"])
        #expect(plan.pointers.all == 1)
    }

    @Test func graphQLAloneComparesOtherBodiesByKind() throws {
        #expect(try MatchRules(match: ["graphql"]).body.match == .byKind)
        #expect(try MatchRules(match: ["method"]).body.match == nil)
    }
}
