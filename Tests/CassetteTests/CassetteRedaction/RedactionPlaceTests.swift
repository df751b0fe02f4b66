@testable import CassetteRedaction
import TapeBytes
import Testing

@Suite struct RedactionPlaceTests {
    @Test func isReadFromItsText() throws {
        #expect(try RedactionPlace("header:X-Key") == .header("x-key"))
        #expect(try RedactionPlace("query:a:b") == .query("a:b"))
        #expect(try RedactionPlace("json:/a~1b/~0/*") == .json(["a/b", "~", "*"]))
        #expect(try RedactionPlace("json:") == .json([]))
        #expect(try RedactionPlace("path") == .path)
        #expect(try RedactionPlace("cookie:Lang") == .cookie("Lang"))
    }

    @Test(arguments: [
        ("body", "\"body\" is not a place in a message: write \"header:NAME\""), ("header:", "\"header:\" lacks a name"),
        ("json:a", "\"json:a\" is not a JSON pointer"),
        ("header:set-cookie:lang", "\"header:set-cookie:lang\" names no header field: for a cookie write \"cookie:lang\""),
        ("header:x key", "\"header:x key\" names no header field"), ("cookie:a=b", "\"cookie:a=b\" is not the name of a cookie"),
        ("query:*", "\"query:*\" names no item, since a \"*\" stands for nothing else there: name each item, for example \"query:lang\""),
        ("form:*", "\"form:*\" names no form field"), ("part:*", "\"part:*\" names no part"),
        ("cookie:*", "\"cookie:*\" names no cookie, since a \"*\" stands for nothing else there"),
        ("header:x-*", "\"header:x-*\" names no field, since a \"*\" stands for nothing else there: name each field"),
        ("json:/a~2", "\"json:/a~2\" has a \"~\" without 0 or 1 after it"),
        ("form:user[*]", "\"form:user[*]\" names every item of a list, which redaction cannot"),
        ("query:filter[*]", "\"query:filter[*]\" names every item of a list"),
        ("part:1|header:x-thing", "\"part:1|header:x-thing\" leads to \"header:x-thing\", which redaction does not read there"),
        ("part:1|query:t", "\"part:1|query:t\" leads to"), ("form:d|base64|json:/id", "\"form:d|base64|json:/id\" leads to"),
    ])
    func errorsSayWhatToWrite(text: String, message: String) {
        let error = #expect(throws: SettingSyntaxError.self) { try RedactionPlace(text) }
        #expect(error?.message.hasPrefix(message) == true)
    }
}
