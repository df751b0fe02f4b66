import Testing

@testable import TapeBytes

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
