import CassetteFormat
import CassetteModel
import CassetteStore
import TapeBytes
import TapeTestSupport
import Testing

@testable import CassettePlayback

/// Rules from two recordings of one request each.
@Suite struct RuleSuggestionsTests {
    private static let ids = ("6f1c1c52-9d2e-4a4e-8f4c-1f0a5b2f0c11", "00000000-9d2e-4a4e-8f4c-1f0a5b2f0c22")
    private static let uuid = "[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"

    private func cassette(_ headers: [String], _ body: String, in folder: TemporaryFolder, _ name: String, match: String) throws
        -> RecordedCassette
    {
        let fields = headers.map { "\"\($0.replacing("\"", with: "\\\""))\"" }.joined(separator: ", ")
        var writer = JSONWriter()
        let isText = !body.utf8.contains(0)
        if isText { writer.string(body) } else { Array(body.utf8).withUnsafeBytes { writer.base64($0) } }
        let kind = isText ? #""text""# : #""base64""#
        let text = """
            {"wiretape": 1, "match": {"match": [\(match)]}, "interactions": [
            {"id": 1, "started": "2026-11-21T04:19:00.000000Z",
             "request": {"method": "POST", "url": "http://h.test/a", "headers": [\(fields)],
                         "body": {"size": \(body.utf8.count), \(kind): \(String(decoding: writer.bytes, as: UTF8.self))}},
             "response": {"status": 200, "headers": []}}]}
            """
        try folder.write(Array(text.utf8), to: name)
        return try RecordedCassette(path: folder.file(name))
    }

    /// The suggestions, and whether both requests are equal with them.
    private func suggested(
        _ old: (headers: [String], body: String), _ new: (headers: [String], body: String),
        match: String = #""method", "url", "body""#
    ) throws -> (rules: [String], isEqual: Bool) {
        let folder = try TemporaryFolder()
        let found = try RuleSuggestions(
            old: self.cassette(old.headers, old.body, in: folder, "old.json", match: match),
            new: self.cassette(new.headers, new.body, in: folder, "new.json", match: match), pairs: [(0, 0)])
        return (found.suggestions.map { "\($0.kind.rawValue) \($0.text)" }, found.equal.after == 1)
    }

    @Test func aTimeInXMLGetsAPattern() throws {
        func body(_ time: String, _ id: String) -> (headers: [String], body: String) {
            (["Content-Type: text/xml"], #"<a><b id="\#(id)">\#(time)</b></a>"#)
        }
        let found = try self.suggested(
            body("2026-11-29T07:15:39Z", "urn:uuid:\(Self.ids.0)"), body("2026-12-01T08:00:00Z", "urn:uuid:\(Self.ids.1)"))
        #expect(
            Set(found.rules) == [
                "pattern xml:/a/b=[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9:]+)?", "pattern xml:/a/b/@id=urn:uuid:\(Self.uuid)",
            ])
        #expect(found.isEqual)
    }

    /// Two elements of one name: the value that differs is meant, not the first of the name.
    @Test func theElementThatDiffersIsMeant() throws {
        func body(_ id: String) -> (headers: [String], body: String) {
            (["Content-Type: text/xml"], "<a><b>7</b><b>\(id)</b></a>")
        }
        let found = try self.suggested(body(Self.ids.0), body(Self.ids.1))
        #expect(found.rules == ["pattern xml:/a/b[2]=\(Self.uuid)"] && found.isEqual)
    }

    /// As in the arguments of a tool call.
    @Test func valuesInAStringThatContainsJSONGetPatternsOfTheirOwn() throws {
        func body(_ inner: String) -> (headers: [String], body: String) {
            var writer = JSONWriter()
            writer.string(inner)
            return (["Content-Type: application/json"], #"{"arguments": \#(String(decoding: writer.bytes, as: UTF8.self))}"#)
        }
        func arguments(_ id: String, _ time: String) -> String { #"{"city": "Tokyo", "trace": {"id": "\#(id)"}, "at": \#(time)}"# }
        let found = try self.suggested(body(arguments(Self.ids.0, "1764000000")), body(arguments(Self.ids.1, "1796012345")))
        #expect(
            Set(found.rules) == [
                "pattern json:/arguments|json:/trace/id=\(Self.uuid)", "pattern json:/arguments|json:/at=[0-9]{10}",
            ])
        #expect(found.isEqual)
        // Other members, or words: not the same call.
        for other in [#"{"city": "Tokyo", "id": "\#(Self.ids.1)"}"#, #"{"city": "Oslo", "trace": {"id": "\#(Self.ids.1)"}, "at": 1}"#] {
            let found = try self.suggested(body(arguments(Self.ids.0, "1764000000")), body(other))
            #expect(!found.rules.contains { $0.hasPrefix("pattern") }, "\(found)")
        }
    }

    @Test func aLongTextInXMLGetsNoRule() throws {
        func body(_ word: String) -> (headers: [String], body: String) {
            (["Content-Type: text/xml"], "<a>\(String(repeating: "It rains. ", count: 40))\(word)</a>")
        }
        #expect(try self.suggested(body("Tokyo"), body("Seoul")).rules.isEmpty)
        #expect(
            try self.suggested((["Content-Type: text/xml"], "<a>Tokyo</a>"), (["Content-Type: text/xml"], "<a>Seoul</a>")).rules == [
                "ignore xml:/a"
            ])
    }

    @Test func aFilenameAndAPartGetPatterns() throws {
        func body(_ filename: String, _ part: String) -> (headers: [String], body: String) {
            let parts = [
                "Content-Disposition: form-data; name=\"file\"; filename=\"\(filename)\"\r\n\r\nsame",
                "Content-Disposition: form-data; name=\"nonce\"\r\n\r\n\(part)",
            ]
            return (
                ["Content-Type: multipart/form-data; boundary=x"], parts.map { "--x\r\n\($0)\r\n" }.joined() + "--x--\r\n"
            )
        }
        let found = try self.suggested(body("\(Self.ids.0).txt", "1764400539"), body("\(Self.ids.1).txt", "1764400999"))
        #expect(
            Set(found.rules) == ["pattern filename:file=\(Self.uuid)\\.txt", "pattern part:nonce=[0-9]{10}"] && found.isEqual, "\(found)")
    }

    @Test func aFieldOfGRPCGetsAPattern() throws {
        func body(_ id: String) -> (headers: [String], body: String) {
            (["Content-Type: application/grpc"], "\0\0\0\0\u{26}\n\u{24}\(id)")
        }
        let found = try self.suggested(body(Self.ids.0), body(Self.ids.1))
        #expect(found.rules == ["pattern grpc:/1=\(Self.uuid)"] && found.isEqual, "\(found)")
    }

    @Test func aHeaderFieldGetsAPattern() throws {
        let found = try self.suggested(
            (["X-Nonce: 1764400539"], "a"), (["X-Nonce: 1764400999"], "a"), match: #""method", "url", "body", "header:x-nonce""#)
        #expect(found.rules == ["pattern header:x-nonce=[0-9]{10}"] && found.isEqual, "\(found)")
    }

    /// Another prompt is another request.
    @Test(arguments: [
        ("What is the weather in Tokyo?", "What is the weather in Seoul?"), ("SELECT * FROM a WHERE x", "DELETE FROM a WHERE x"),
        ("Delete all my files", "Hi"), ("\u{C11C}\u{C6B8} \u{B0A0}\u{C528}", "\u{BD80}\u{C0B0} \u{B0A0}\u{C528}"),
    ]) func textsOfSeveralWordsGetNoRule(old: String, new: String) throws {
        func body(_ text: String) -> (headers: [String], body: String) {
            (["Content-Type: application/json"], #"{"messages":[{"content":"\#(text)"}]}"#)
        }
        let found = try self.suggested(body(old), body(new))
        #expect(found.rules.isEmpty && !found.isEqual)
    }

    @Test func aShortWordMayBeIgnored() throws {
        func body(_ text: String) -> (headers: [String], body: String) {
            (["Content-Type: application/json"], #"{"user":"\#(text)"}"#)
        }
        let found = try self.suggested(body("alice"), body("bob"))
        #expect(found.rules == ["ignore json:/user"] && found.isEqual)
    }

    /// To ignore their names would make all tools equal.
    @Test func elementsInAnotherOrderWithNewIdsAreSorted() throws {
        func tool(_ name: String, _ id: String) -> String { #"{"id":"\#(id)","function":{"name":"\#(name)","n":1}}"# }
        func body(_ tools: [String]) -> (headers: [String], body: String) {
            (["Content-Type: application/json"], #"{"tools":[\#(tools.joined(separator: ","))]}"#)
        }
        let (first, second) = Self.ids
        let third = "11111111-9d2e-4a4e-8f4c-1f0a5b2f0c33"
        let old = body([tool("a", first), tool("b", second), tool("c", third)])
        let new = body([
            tool("c", "22222222" + first.dropFirst(8)), tool("a", "33333333" + first.dropFirst(8)),
            tool("b", "44444444" + first.dropFirst(8)),
        ])
        let found = try self.suggested(old, new)
        #expect(found.rules == ["sort json:/tools", "pattern json:/tools/*/id=\(Self.uuid)"] && found.isEqual)
    }
}
