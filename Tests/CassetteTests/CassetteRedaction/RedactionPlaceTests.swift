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
    }

    @Test(arguments: [
        ("body", "\"body\" is no place: write \"header:NAME\""), ("header:", "\"header:\" names nothing"),
        ("json:a", "\"json:a\" has no JSON pointer"),
        ("json:/a~2", "\"json:/a~2\" has a \"~\" that means nothing"),
    ])
    func errorsSayWhatToWrite(text: String, message: String) {
        let error = #expect(throws: SettingSyntaxError.self) { try RedactionPlace(text) }
        #expect(error?.message.hasPrefix(message) == true)
    }
}
