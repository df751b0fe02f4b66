@testable import CassettePlayback
import Testing

struct MatchPlaceTests {
    @Test(arguments: [
        "method", "scheme", "host", "port", "path", "query", "body", "query:ts", "header:x-a", "json:/a/*", "form:a b", "part:음식",
        "filename:photo", "part:meta|json:/id", "part:a|b", "form:data|xml:/a/@b", "part:a/b|part:c|form:d", "query:", "xml:/a/*/b",
        "xml:/a/@c", "xml:/a/b[2]/text()",
    ])
    func isWrittenAsItWasRead(text: String) throws {
        #expect(try MatchPlace(text).description == text)
    }

    /// A rule of comparison can be for the fields without a name; an edit cannot.
    @Test func onlyRulesOfComparisonTakeFieldsWithoutAName() throws {
        #expect(try MatchPlace(reaching: "form:").description == "form:")
        #expect(throws: MatchRuleError.self) { try MatchPlace("form:") }
    }

    @Test func namesOfFieldsHaveNoCase() throws {
        #expect(try MatchPlace("header:X-Request-ID") == .header("x-request-id"))
    }

    @Test(arguments: [
        ("url", "\"url\" is not a place in a request; write \"header:NAME\""),
        ("cookie:a", "\"cookie:a\" is not a place"),
        ("form:", "\"form:\" lacks a name; write \"form:NAME\""),
        ("header:a b", "\"a b\" cannot be the name of a header field"),
        ("xml:a", "\"xml:a\" names no element; write \"xml:/a/b\" for elements b in a"), ("xml:/", "\"xml:/\" names no element"),
        ("part:a|json:b", "the JSON pointer \"b\" does not begin with a slash"),
        ("json:a", "the JSON pointer \"a\" does not begin with a slash; write \"json:/a\""),
    ])
    func saysWhatToWrite(text: String, message: String) {
        let error = #expect(throws: MatchRuleError.self) { try MatchPlace(text) }
        #expect(error?.message.hasPrefix(message) == true)
    }
}

struct PlacePointerTests {
    @Test func prefixesOfElementsDoNotCount() throws {
        #expect(try PlacePointer(elements: "/s:Envelope/@x:id").description == "/Envelope/@id")
        #expect(throws: MatchRuleError.self) { try PlacePointer(elements: "/a//b") }
        #expect(throws: MatchRuleError.self) { try PlacePointer(elements: "/a/@") }
        #expect(throws: MatchRuleError.self) { try PlacePointer(elements: String(repeating: "/a", count: 129)) }
    }

    @Test func readsSegmentsAndEscapes() throws {
        #expect(try PlacePointer("").segments == [])
        #expect(try PlacePointer("/").segments == [.name([])])
        #expect(try PlacePointer("/items/*/a~1b~0c").segments == [.name(Array("items".utf8)), .any, .name(Array("a/b~c".utf8))])
    }

    @Test func isWrittenAsItWasRead() throws {
        for text in ["", "/", "/a/*/0", "/a~1b~0c", "/음식"] { #expect(try PlacePointer(text).description == text) }
    }

    @Test func invalidPointerIsRefused() {
        #expect(throws: MatchRuleError.self) { try PlacePointer("a") }
        #expect(throws: MatchRuleError.self) { try PlacePointer("/a~5") }
        #expect(throws: MatchRuleError.self) { try PlacePointer("/a~") }
        #expect(throws: MatchRuleError.self) { try PlacePointer(String(repeating: "/a", count: 129)) }
    }
}
