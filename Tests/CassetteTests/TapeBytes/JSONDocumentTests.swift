@testable import TapeBytes
import TapeTestSupport
import Testing

@Suite struct JSONDocumentTests {
    @Test func theTextIsKeptAsReceived() throws {
        let text = Array(" {\"b\" : 1.50, \"a\":[ ], \"b\":\"\\u0061\"} ".utf8)
        let document = try JSONDocument(text)
        #expect(document.bytes == text)
        #expect(document.root.members.map { $0.name.string } == ["b", "a", "b"])
        #expect(document.root.members.map { String(decoding: $0.value.raw, as: UTF8.self) } == ["1.50", "[ ]", "\"\\u0061\""])
    }

    @Test func textOutsideUTF8IsRefusedWithItsPlace() {
        #expect(throws: JSONSyntaxError(reason: "expected UTF-8", offset: 4, line: 2)) {
            try JSONDocument([0x5B, 0x0A, 0x22, 0x61, 0xFF, 0x22, 0x5D])
        }
        #expect(throws: JSONSyntaxError.self) { try JSONDocument([0x22, 0xE2, 0x82]) }
        #expect(throws: JSONSyntaxError.self) { try JSONDocument([]) }
    }

    @Test func noRandomTextTraps() {
        var generator = SeededGenerator(seed: 9)
        let alphabet = Array("{}[]\",:\\u0123-.eEtruefalsn \n".utf8) + [0xC3, 0xA9, 0x00]
        for _ in 0..<rounds(20_000) {
            let text = (0..<Int.random(in: 0...24, using: &generator)).map { _ in
                alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
            }
            guard let root = try? JSONDocument(text).root else { continue }
            _ = (root.int, root.double, root.utf8, root.members.map { $0.value.string }, root.elements.map(\.line))
        }
    }
}

@Suite struct JSONElementsTests {
    private func spelled(_ text: String) throws -> [String] {
        try JSONDocument(Array(text.utf8)).root.elements.map { String(decoding: $0.raw, as: UTF8.self) }
    }

    @Test func elementsComeInOrderAsSpelled() throws {
        #expect(try self.spelled(#"[1.0, "a\n", true, null, 1e2]"#) == ["1.0", #""a\n""#, "true", "null", "1e2"])
    }

    @Test func contentOfElementsIsSkipped() throws {
        #expect(try self.spelled(#"[[1, [2, 3]], {"a": [4], "b": {}}, [], 5]"#) == ["[1, [2, 3]]", #"{"a": [4], "b": {}}"#, "[]", "5"])
    }

    @Test(arguments: ["[]", "[ \n ]", "{}", #"{"a": [1]}"#, "12", #""[1]""#, "null"])
    func anEmptyArrayAndOtherKindsHaveNone(text: String) throws {
        #expect(try self.spelled(text).isEmpty)
    }

    @Test func anInnerArrayEndsWhereItsBracketDoes() throws {
        let root = try JSONDocument(Array("[[1, 2], 3]".utf8)).root
        let inner = try #require(root.elements.first { _ in true })
        #expect(inner.elements.map(\.int) == [1, 2])
    }

    @Test func repeatedReadsAfterTheLastOneGiveNothing() throws {
        var elements = try JSONDocument(Array("[7]".utf8)).root.elements
        #expect(elements.next()?.int == 7)
        #expect(elements.next() == nil)
        #expect(elements.next() == nil)
    }
}

@Suite struct JSONMembersTests {
    private func spelled(_ text: String) throws -> [String] {
        try JSONDocument(Array(text.utf8)).root.members.map {
            "\(String(decoding: $0.name.raw, as: UTF8.self))=\(String(decoding: $0.value.raw, as: UTF8.self))"
        }
    }

    @Test func membersComeInOrderDuplicatesIncluded() throws {
        #expect(try self.spelled(#"{"b": 1, "a": "x", "b": null, "": true}"#) == [#""b"=1"#, #""a"="x""#, #""b"=null"#, #"""=true"#])
    }

    @Test func contentOfMembersIsSkipped() throws {
        let members = try self.spelled(#"{"a": {"b": {"c": 1}}, "d": [{"e": 2}], "f": 3}"#)
        #expect(members == [#""a"={"b": {"c": 1}}"#, #""d"=[{"e": 2}]"#, #""f"=3"#])
    }

    @Test(arguments: ["{}", "{ \n }", "[]", #"[{"a": 1}]"#, "12", #""{}""#, "false"])
    func anEmptyObjectAndOtherKindsHaveNone(text: String) throws {
        #expect(try self.spelled(text).isEmpty)
    }

    @Test func anInnerObjectEndsWhereItsBraceDoes() throws {
        let inner = try #require(try JSONDocument(Array(#"{"a": {"b": 1}, "c": 2}"#.utf8)).root["a"])
        #expect(inner.members.map(\.name.string) == ["b"])
    }

    @Test func repeatedReadsAfterTheLastOneGiveNothing() throws {
        var members = try JSONDocument(Array(#"{"a": 7}"#.utf8)).root.members
        #expect(members.next()?.value.int == 7)
        #expect(members.next() == nil)
        #expect(members.next() == nil)
    }
}

@Suite struct JSONStringDecoderTests {
    private func decoded(_ text: String) -> String? {
        JSONStringDecoder.decode(Array(text.utf8)[...]).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func escapesAreDecoded() {
        #expect(self.decoded(#"a\"\\\/\b\f\n\r\tb"#) == "a\"\\/\u{8}\u{C}\n\r\tb")
        #expect(self.decoded(#"\u0041\u00e9\uAc00\ud83d\ude00\u0000"#) == "Aé가😀\u{0}")
    }

    @Test(arguments: [#"\ud800"#, #"\udc00"#, #"\ud800a"#, #"\ud800\u0041"#, #"\ud800\ud800"#, #"\u12"#, #"\x"#, "\\", #"\ud83d\ude0"#])
    func invalidEscapeIsRefused(_ text: String) {
        #expect(self.decoded(text) == nil)
    }
}

@Suite struct JSONValueTests {
    private func value(_ text: String) throws -> JSONValue { try JSONDocument(Array(text.utf8)).root }

    @Test func aValueIsDecodedOnlyAsWhatItIs() throws {
        #expect(try self.value("true").bool == true)
        #expect(try self.value("0").bool == nil)
        #expect(try self.value("\"1\"").int == nil)
        #expect(try self.value("1").string == nil)
        #expect(try self.value("[1]").members.map(\.name.string) == [])
        #expect(try self.value("{\"a\":1}").elements.map(\.int) == [])
        #expect(try self.value("null").kind == .null)
    }

    @Test func membersAreFoundByTheirDecodedName() throws {
        let value = try self.value("{\"x\":{\"a\":0},\"\\u0061\":1,\"a\":2}")
        #expect(value["a"]?.int == 1)
        #expect(value["b"] == nil)
    }

    @Test func nestedElementsAreSteppedOver() throws {
        let value = try self.value("[[1,[2,{\"a\":3}]],4,{},[]]")
        #expect(value.elements.map(\.kind) == [.array, .number, .object, .array])
        #expect(value.elements.map { String(decoding: $0.raw, as: UTF8.self) } == ["[1,[2,{\"a\":3}]]", "4", "{}", "[]"])
    }

    @Test func aValueKnowsItsLine() throws {
        #expect(try self.value("{\n\"a\":\n 1}")["a"]?.line == 3)
    }
}
