import Testing

@testable import TapeCore

@Suite struct NamedValuesTests {
    @Test func valuesOfOneNameAreComparedInOrder() {
        #expect(NamedValues.changes([("a", "1"), ("b", "2"), ("a", "3")], [("b", "2"), ("a", "1"), ("a", "3")], kind: "query:") == [])
        let changes = NamedValues.changes([("a", "1"), ("a", "2"), ("gone", "x")], [("a", "2"), ("a", "1"), ("new", "")], kind: "query:")
        #expect(
            changes == [FieldChange("query:a", "1, 2", "2, 1"), FieldChange("query:gone", "x", nil), FieldChange("query:new", nil, "")])
    }

    @Test func secretsAreHiddenByTheirNames() {
        #expect(
            NamedValues.changes([("token", "1")], [("token", "2")], kind: "form:") == [FieldChange("form:token", "(hidden)", "(hidden)")])
    }
}
