import Testing

@testable import CassettePlayback

struct HeadPlanTests {
    @Test func onlyTheStandardHeadIsStandard() throws {
        for (match, ignore, expected) in [
            (["method", "url"], [], true), (["method", "url", "body:bytes"], ["json:/a", "form:b"], true), (["url"], [], false),
            (["method", "url", "query-order"], [], false), (["method", "url", "header:a"], [], false),
            (["method", "url"], ["query:a"], false),
            (["method", "url", "graphql"], [], false), (["method", "url"], ["port"], false),
        ] as [([String], [String], Bool)] {
            #expect(try MatchRules(match: match, ignore: ignore).isStandardHead == expected, "\(match) \(ignore)")
        }
        #expect(try !MatchRules(patterns: ["path=/a"]).isStandardHead)
        #expect(try !MatchRules(patterns: ["query:a=b"]).isStandardHead)
    }

    @Test func fieldsAreInOrder() throws {
        #expect(try MatchRules(match: ["header:b", "header:a"]).head.headers == ["a", "b"])
    }
}
