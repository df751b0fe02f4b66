import Testing

@testable import CassettePlayback

@Suite struct SkelTextTests {
    private static let lines = ["Content-Type: application/vnd.svn-skel"]

    private func json(_ text: String) -> String? { SkelText.json(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) } }

    @Test(arguments: [
        ("(create-txn)", "[\"create-txn\"]"), ("( a  3 b c\n(d) )", "[\"a\",\"b c\",[\"d\"]]"), ("()", "[]"), ("word", "\"word\""),
        ("(a (x 1 1 y 2 22))", "[\"a\",{\"x\":\"1\",\"y\":\"22\"}]"), ("(a (x 1 1 x 2 22))", "[\"a\",[\"x\",\"1\",\"x\",\"22\"]]"),
        ("(a 3 \"\\\t)", "[\"a\",\"\\u0022\\u005c\\u0009\"]"), ("(a 0 )", "[\"a\",\"\"]"),
    ])
    func listsAndAtoms(skel: String, json: String) { #expect(self.json(skel) == json) }

    @Test(arguments: ["", "(", ")", "(a", "(a))", "(9 abc)", "(3abc)", "(99999999999999999999 a)", String(repeating: "(", count: 100_000)])
    func anythingElseIsNoSkel(text: String) { #expect(self.json(text) == nil) }

    /// A client writes the properties in the order of its hash.
    @Test func propertiesAreEqualInAnyOrder() throws {
        let one = "(create-txn-with-props (svn:txn-client-compat-version 6 1.14.2 svn:log 9 msg fixed))"
        let other = "(create-txn-with-props (svn:log 9 msg fixed svn:txn-client-compat-version 6 1.14.2))"
        let third = "(create-txn-with-props (svn:log 7 msg two svn:txn-client-compat-version 6 1.14.2))"
        func facets(_ text: String, _ rules: MatchRules = .standard) -> BodyFacets { MatchFixture.live(text, Self.lines, rules) }
        #expect(facets(one) == facets(other) && facets(one) != facets(third))
        #expect(facets(one).differences(fromRecorded: facets(third)).map(\.ignorablePlace) == ["json:/1/svn:log"])
        let rules = try MatchRules(ignore: ["json:/1/svn:log"])
        #expect(facets(one, rules) == facets(third, rules))
    }
}
