@testable import CassetteModel
@testable import TapeBytes
import Testing

@Suite struct ContentDecoderTests {
    private func content(_ members: String, line: String = "") throws -> BodyContent? {
        try decodeInteraction(
            #"{ "id": 1, "started": "2026-11-21T04:19:28Z", "request": { "method": "POST", "url": "http://a/", "body": { \#(members) } } }"#
        ).request.body?.content
    }

    private func bytes(_ members: String) throws -> String? {
        try self.content(members)?.inlineBytes.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func formsWrittenByHandAreSpelled() throws {
        #expect(try self.bytes(#""form": [["a b", "=&ü"], ["c"], ["d", ""]]"#) == "a+b=%3D%26%C3%BC&c&d=")
        #expect(try self.bytes(#""form": [["a b", "ü"]], "spelling": { "space": "%20", "hex": "lower" }"#) == "a%20b=%c3%bc")
    }

    @Test func linesAndEventsWrittenByHandAreJoined() throws {
        #expect(try self.bytes(#""lines": [{ "a": 1 }, []]"#) == "{\"a\":1}\n[]\n")
        #expect(
            try self.bytes(#""events": [{ "event": "x", "json": { "a": 1 } }, [": ping"], { "data": ["b", "c"] }], "style": "spaced""#)
                == "event: x\ndata: {\"a\": 1}\n\n: ping\n\ndata: b\ndata: c\n\n")
    }

    @Test func editedTextIsEncodedAgain() throws {
        #expect(try self.content(#""text": ["음", "식"], "charset": "EUC-KR""#) == .encodedText([0xC0, 0xBD, 0xBD, 0xC4], .eucKR))
    }

    @Test(arguments: [
        #""text": "음", "charset": "ISO-8859-1""#, #""base64": "", "charset": "EUC-KR""#, #""form": {}"#, #""form": [["a", "b", "c"]]"#,
        #""form": [[]]"#, #""form": [], "spelling": { "space": " " }"#, #""form": [], "spelling": { "plain": "&" }"#, #""lines": {}"#,
        #""form": [], "text": """#, #""lines": [], "lineEnd": "\r""#, #""events": [1]"#, #""events": [{ "data": "a\nb" }]"#,
        #""events": [{ "data: x": "a" }]"#, #""multipart": []"#,
    ])
    func contentThatCannotBeSentIsDamage(_ members: String) {
        #expect(decodingError(members)?.code == .damaged)
    }

    @Test func theErrorNamesTheCharset() {
        let error = decodingError(#""text": "음", "charset": "ISO-8859-1""#)
        #expect(error?.message.contains("'ISO-8859-1'") == true)
    }
}
