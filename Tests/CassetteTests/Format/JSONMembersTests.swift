import TapeBytes
import Testing

@Suite struct JSONMembersTests {
    private func spelled(_ text: String) throws -> [String] {
        try JSONDocument(Array(text.utf8)).root.members.map {
            "\(String(decoding: $0.name.raw, as: UTF8.self))=\(String(decoding: $0.value.raw, as: UTF8.self))"
        }
    }

    @Test func membersComeInOrderDuplicatesIncluded() throws {
        #expect(try self.spelled(#"{"b": 1, "a": "x", "b": null, "": true}"#) == [#""b"=1"#, #""a"="x""#, #""b"=null"#, #"""=true"#])
    }

    @Test func whatAValueHoldsIsSkipped() throws {
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

    @Test func behindTheLastThereIsNothingHoweverOftenOneAsks() throws {
        var members = try JSONDocument(Array(#"{"a": 7}"#.utf8)).root.members
        #expect(members.next()?.value.int == 7)
        #expect(members.next() == nil)
        #expect(members.next() == nil)
    }
}
