import Testing

@testable import CassetteTools

@Suite struct FieldChangeTests {
    @Test func secretsAreNotKept() {
        #expect(FieldChange("header:cookie", "a=1", "a=2", isSecret: true) == FieldChange("header:cookie", "x", "y", isSecret: true))
        #expect(FieldChange("json:/a", "\"eyJhbGciOiJIUzI1NiJ9.e30\"", nil).old == FieldChange.hidden)
        #expect(FieldChange("json:/a", nil, "1").old == nil)
    }

    @Test func longValuesAreCut() {
        #expect(
            FieldChange("body", String(repeating: "é", count: 120), String(repeating: "é", count: 121)).new == String(
                repeating: "é", count: 119) + "…")
        #expect(FieldChange("body", String(repeating: "é", count: 120), nil).old?.count == 120)
    }
}
