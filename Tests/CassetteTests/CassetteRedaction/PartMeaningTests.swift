@testable import CassetteModel
@testable import CassetteRedaction
import Testing

@Suite struct PartMeaningTests {
    private func meaning(_ disposition: String, _ rules: RedactionRules = .standard) -> PartMeaning {
        PartMeaning(
            HeaderFields(["Content-Disposition: form-data; " + disposition]),
            named: ContentRedaction.name(of: HeaderFields(["Content-Disposition: form-data; " + disposition]), 3), rules: rules)
    }

    @Test func namesDecideTheKindOfData() throws {
        #expect(self.meaning("name=\"user[password]\"") == .secret(kind: "password", isSure: true, isRuled: false))
        #expect(self.meaning("name=\"password\"; filename=\"a\"") == .content([]))
        #expect(self.meaning("name=\"x\"") == .content([]))
        #expect(self.meaning("name=\"password\"", try RedactionRules(rules: [], keep: ["part:password"])) == .kept)
        #expect(self.meaning("name=\"x\"", try RedactionRules(rules: ["part:x"])) == .secret(kind: "x", isSure: true, isRuled: true))
        #expect(PartMeaning(HeaderFields(), named: "1", rules: .standard) == .content([]))
        #expect(
            PartMeaning(HeaderFields(), named: "2", rules: try RedactionRules(rules: ["part:2"]))
                == .secret(kind: "2", isSure: true, isRuled: true))
    }
}
