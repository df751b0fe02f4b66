import Testing

@testable import CassetteTools

@Suite struct NamedValuesTests {
    @Test func valuesOfOneNameAreComparedInOrder() {
        #expect(
            NamedValues.changes(
                [("a", "1"), ("b", "2"), ("a", "3")], [("b", "2"), ("a", "1"), ("a", "3")], kind: "query:", showsAll: false) == [])
        let changes = NamedValues.changes(
            [("a", "1"), ("a", "2"), ("gone", "x")], [("a", "2"), ("a", "1"), ("new", "")], kind: "query:", showsAll: false)
        #expect(
            changes == [FieldChange("query:a", "1, 2", "2, 1"), FieldChange("query:gone", "x", nil), FieldChange("query:new", nil, "")])
    }

    @Test func secretsAreHiddenByTheirNames() {
        #expect(
            NamedValues.changes([("token", "1")], [("token", "2")], kind: "form:", showsAll: false) == [
                FieldChange("form:token", "(hidden)", "(hidden)")
            ])
    }

    @Test func anotherNumberOfAPlaceholderIsNoChange() {
        let (old, new) = ([("a", "Bearer {{authorization:1}}")], [("a", "Bearer {{authorization:2}}")])
        #expect(NamedValues.changes(old, new, kind: "header:", showsAll: false) == [])
        #expect(NamedValues.changes(old, new, kind: "header:", showsAll: true).count == 1)
        #expect(NamedValues.changes(old, [("a", "Bearer {{jwt:1}}")], kind: "header:", showsAll: false).count == 1)
        #expect(NamedValues.changes(old, [("a", "Basic {{authorization:1}}")], kind: "header:", showsAll: false).count == 1)
    }
}
