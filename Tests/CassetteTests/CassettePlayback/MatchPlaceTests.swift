@testable import CassettePlayback
import Testing

struct MatchPlaceTests {
    @Test(arguments: [
        "method", "scheme", "host", "port", "path", "query", "body", "query:ts", "header:x-a", "json:/a/*", "form:a b", "part:음식",
        "filename:photo",
    ])
    func isWrittenAsItWasRead(text: String) throws {
        #expect(try MatchPlace(text).description == text)
    }

    @Test func namesOfFieldsHaveNoCase() throws {
        #expect(try MatchPlace("header:X-Request-ID") == .header("x-request-id"))
    }

    @Test(arguments: [
        ("url", "\"url\" is not a place in a request; write \"header:NAME\""),
        ("cookie:a", "\"cookie:a\" is not a place"),
        ("query:", "\"query:\" lacks a name; write \"query:NAME\""),
        ("header:a b", "\"a b\" cannot be the name of a header field"),
        ("json:a", "the JSON pointer \"a\" does not begin with a slash; write \"json:/a\""),
    ])
    func saysWhatToWrite(text: String, message: String) {
        let error = #expect(throws: MatchRuleError.self) { try MatchPlace(text) }
        #expect(error?.message.hasPrefix(message) == true)
    }
}

struct PlacePointerTests {
    @Test func readsSegmentsAndEscapes() throws {
        #expect(try PlacePointer("").segments == [])
        #expect(try PlacePointer("/").segments == [.name([])])
        #expect(try PlacePointer("/items/*/a~1b~0c").segments == [.name(Array("items".utf8)), .any, .name(Array("a/b~c".utf8))])
    }

    @Test func isWrittenAsItWasRead() throws {
        for text in ["", "/", "/a/*/0", "/a~1b~0c", "/음식"] { #expect(try PlacePointer(text).description == text) }
    }

    @Test func refusesWhatIsNoPointer() {
        #expect(throws: MatchRuleError.self) { try PlacePointer("a") }
        #expect(throws: MatchRuleError.self) { try PlacePointer("/a~2") }
        #expect(throws: MatchRuleError.self) { try PlacePointer("/a~") }
        #expect(throws: MatchRuleError.self) { try PlacePointer(String(repeating: "/a", count: 129)) }
    }
}
