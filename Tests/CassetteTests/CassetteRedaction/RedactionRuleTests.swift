@testable import CassetteRedaction
@testable import TapeBytes
import Testing

@Suite struct RedactionRuleTests {
    @Test func isAPlaceAndPerhapsAPattern() throws {
        #expect(try RedactionRule("query:ts").pattern == nil)
        #expect(try RedactionRule("query:ts=[0-9]+").pattern?.text == "[0-9]+")
        #expect(try RedactionRule("json:/users/*/0").kind == "users")
        #expect(try RedactionRule("json:/users").isJSON)
    }

    @Test(arguments: ["path", "text", "text=(", "x"]) func incompleteRuleIsRefused(text: String) {
        #expect(throws: SettingSyntaxError.self) { try RedactionRule(text) }
    }

    @Test func aPatternLeavesPlaceholdersAlone() throws {
        let rule = try RedactionRule("text=[a-z]{3,}")
        let found = Array("abc {{jwt:1}}".utf8).withUnsafeBytes { rule.findings(in: $0) }
        #expect(found.map(\.range) == [0..<3])
    }

    @Test(arguments: ["text=hunter2-xyz", "path=katharina", "header:x-a=10\\.0\\.12", "query:a=long enough"])
    func aPatternThatSpellsTheSecretIsRefusedWithoutSayingIt(text: String) {
        #expect(throws: SettingSyntaxError.self) { try RedactionRule(text) }
        do {
            _ = try RedactionRule(text)
        } catch {
            #expect(!error.message.contains(String(text.split(separator: "=")[1])))
            #expect(error.message.contains("--secret-env"))
        }
    }

    @Test(arguments: ["text=hunter[0-9]", "text=hunter\\d-xyz", "path=ann", "text=private"])
    func otherPatternsAreTaken(text: String) {
        #expect(throws: Never.self) { try RedactionRule(text) }
    }
}
