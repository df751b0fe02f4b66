@testable import CassetteRedaction
@testable import TapeBytes
import Testing

@Suite struct RedactionRulesTests {
    @Test func rulesAdd() throws {
        let one = try RedactionRules(rules: ["query:a"], keep: ["jwt"])
        let two = try RedactionRules(rules: ["query:a", "query:b"], secrets: [SecretValue(name: "X", bytes: [1, 2, 3, 4, 5, 6])])
        let sum = one.adding(two)
        #expect(sum.rules.map(\.text) == ["query:a", "query:b"])
        #expect(sum.keep.map(\.text) == ["jwt"])
        #expect(sum.secrets.map(\.name) == ["X"])
        #expect(RedactionRules.standard.isStandard && !sum.isStandard)
    }

    @Test func tooManyAreRefused() {
        #expect(throws: SettingSyntaxError.self) { try RedactionRules(rules: Array(repeating: "query:a", count: 1001)) }
    }
}

@Suite struct RedactionExceptionTests {
    @Test func isAPlaceOrAKind() throws {
        #expect(try RedactionException("jwt").kind == "jwt")
        let error = #expect(throws: SettingSyntaxError.self) { try RedactionRules(rules: [], keep: ["passwort"]) }
        #expect(error?.message.hasPrefix("\"passwort\" is not a kind of secret") == true)
        #expect(throws: Never.self) { try RedactionRules(rules: ["header:x-mail"], keep: ["x-mail", "env-KEY", "github-token"]) }
        #expect(try RedactionException("header:X-Api-Key").place == .header("x-api-key"))
    }

    @Test(arguments: ["", "a b", "path", "text", "nowhere:x"]) func anythingElseIsRefused(text: String) {
        #expect(throws: SettingSyntaxError.self) { try RedactionException(text) }
    }
}

@Suite struct RedactionRulesJSONTests {
    private static let secret = SecretValue(name: "X", bytes: Array("sekret7".utf8))

    @Test func comesBackAsItWasWritten() throws {
        let rules = try RedactionRules(rules: ["query:a", "text=b+"], keep: ["jwt"], secrets: [Self.secret])
        var writer = JSONWriter()
        rules.write(into: &writer)
        #expect(String(decoding: writer.bytes, as: UTF8.self) == #"{ "rules": ["query:a", "text=b+"], "keep": ["jwt"] }"#)
        let read = try RedactionRules(try JSONDocument(writer.bytes).root)
        #expect(read.rules == rules.rules && read.keep == rules.keep && read.secrets == [])
    }

    @Test(arguments: ["header:set-cookie", "header:Cookie", "header:set-cookie2"]) func fieldsOfCookiesAreNotKeptAsAWhole(text: String) {
        let error = #expect(throws: SettingSyntaxError.self) { try RedactionRules(rules: [], keep: [text]) }
        #expect(error?.message.contains("name each cookie, for example \"cookie:lang\"") == true)
        #expect(throws: Never.self) { try RedactionRules(rules: ["header:set-cookie"], keep: ["cookie:lang"]) }
    }

    @Test(arguments: ["[]", #"{"rules":"x"}"#, #"{"keep":[1]}"#]) func otherThingsAreRefused(text: String) throws {
        let value = try JSONDocument(Array(text.utf8)).root
        #expect(throws: SettingSyntaxError.self) { try RedactionRules(value) }
    }
}

@Suite struct RedactionRulesPatternsTests {
    @Test func findsInItemsByName() throws {
        let rules = try RedactionRules(rules: ["query:a=[0-9]+", "form:b=x", "path=/[a-z]+"])
        Array("a=12&b=x".utf8).withUnsafeBytes { text in
            #expect(rules.findings(inQueryOf: text, range: 0..<8).map(\.range) == [2..<4])
            #expect(rules.findings(inForm: text).map(\.range) == [7..<8])
        }
        Array("/abc".utf8).withUnsafeBytes { #expect(rules.findings(at: .path, in: $0, from: 10).map(\.range) == [10..<14]) }
    }
}
