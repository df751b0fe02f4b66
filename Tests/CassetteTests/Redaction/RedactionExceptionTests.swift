import Testing

@testable import CassetteRedaction

@Suite struct RedactionExceptionTests {
    @Test func isAPlaceOrAKind() throws {
        #expect(try RedactionException("jwt").kind == "jwt")
        #expect(try RedactionException("header:X-Api-Key").place == .header("x-api-key"))
    }

    @Test(arguments: ["", "a b", "path", "text", "nowhere:x"]) func anythingElseIsRefused(text: String) {
        #expect(throws: RedactionRuleError.self) { try RedactionException(text) }
    }
}
