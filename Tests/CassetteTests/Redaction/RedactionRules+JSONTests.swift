import Testing

@testable import CassetteRedaction
@testable import TapeBytes

@Suite struct RedactionRulesJSONTests {
    private static let secret = SecretValue(name: "X", octets: Array("sekret7".utf8))

    @Test func comesBackAsItWasWritten() throws {
        let rules = try RedactionRules(rules: ["query:a", "text=b+"], keep: ["jwt"], secrets: [Self.secret])
        var writer = JSONWriter()
        rules.write(into: &writer)
        #expect(String(decoding: writer.bytes, as: UTF8.self) == #"{ "rules": ["query:a", "text=b+"], "keep": ["jwt"] }"#)
        let read = try RedactionRules(try JSONDocument(writer.bytes).root)
        #expect(read.rules == rules.rules && read.keep == rules.keep && read.secrets == [])
    }

    @Test(arguments: ["[]", #"{"rules":"x"}"#, #"{"keep":[1]}"#]) func otherThingsAreRefused(text: String) throws {
        let value = try JSONDocument(Array(text.utf8)).root
        #expect(throws: RedactionRuleError.self) { try RedactionRules(value) }
    }
}
