import Testing

@testable import CassettePlayback

struct GraphQLOperationNameTests {
    @Test(
        arguments: [
            ("query A { a }", "A"), ("mutation Add($x: Int = 1, $y: [Int!]) @d(a: {b: 1}) { a }", "Add"), ("subscription\n\tS_1{a}", "S_1"),
            ("# query B {}\nquery A { a }", "A"), ("fragment F on query { a } query A { ...F }", "A"),
            ("query A { a(x: \"} query B {\") }", "A"), ("query A { a(x: \"\"\"\\\"\"\" } query B { \"\"\") }", "A"),
            ("query A { query mutation { query } }", "A"), (",,query,A,{a}", "A"), ("query A($q: String = \"\\\"\") { a }", "A"),
        ] as [(String, String)]) func oneOperationHasAName(query: String, name: String)
    {
        #expect(GraphQLOperationName.only(in: Array(query.utf8)) == Array(name.utf8))
    }

    @Test(arguments: [
        "{ a }", "query { a }", "query ($x: Int) { a }", "query A { a } query B { b }", "query A { a } { b }", "fragment F on T { a }", "",
        "query", "\"", "\"\"\"", "}}}", "query \"A\" { a }", "\"\\",
    ])
    func anythingElseHasNone(query: String) {
        #expect(GraphQLOperationName.only(in: Array(query.utf8)) == nil)
    }
}
