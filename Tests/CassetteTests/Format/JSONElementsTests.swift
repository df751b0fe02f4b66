import TapeBytes
import Testing

@Suite struct JSONElementsTests {
    private func spelled(_ text: String) throws -> [String] {
        try JSONDocument(Array(text.utf8)).root.elements.map { String(decoding: $0.raw, as: UTF8.self) }
    }

    @Test func elementsComeInOrderAsSpelled() throws {
        #expect(try self.spelled(#"[1.0, "a\n", true, null, 1e2]"#) == ["1.0", #""a\n""#, "true", "null", "1e2"])
    }

    @Test func whatAContainerHoldsIsSkipped() throws {
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

    @Test func behindTheLastThereIsNothingHoweverOftenOneAsks() throws {
        var elements = try JSONDocument(Array("[7]".utf8)).root.elements
        #expect(elements.next()?.int == 7)
        #expect(elements.next() == nil)
        #expect(elements.next() == nil)
    }
}
