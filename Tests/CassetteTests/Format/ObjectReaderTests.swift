import Testing

@testable import CassetteFormat
@testable import CassetteModel
@testable import TapeBytes

@Suite struct ObjectReaderTests {
    private func reader(_ text: String) throws -> ObjectReader {
        try ObjectReader(JSONDocument(Array(text.utf8)).root, "a.b", InteractionPlace(), known: ["x", "y"])
    }

    @Test func knownMembersAreFoundAndOthersKept() throws {
        let reader = try self.reader(#"{"z":[1, 2],"\u0078":1,"z":null}"#)
        #expect(try reader.int("x") == 1)
        #expect(reader["y"] == nil)
        #expect(
            reader.unknown == [UnknownMember(name: "z", json: Array("[1, 2]".utf8)), UnknownMember(name: "z", json: Array("null".utf8))])
    }

    @Test func aKnownMemberThatComesTwiceIsDamaged() {
        #expect(throws: CassetteError.self) { try self.reader(#"{"x":1,"\u0078":1}"#) }
    }

    @Test func anErrorNamesTheMembersPath() throws {
        let reader = try self.reader("{\n\"x\": 1.5}")
        #expect(
            throws: CassetteError(.damaged, "line 2: a.b.x: expected a whole number; correct that line or restore the file from a copy")
        ) {
            try reader.int("x")
        }
        #expect(throws: CassetteError(.damaged, "line 1: a.b.y: is missing; correct that line or restore the file from a copy")) {
            try reader.required("y")
        }
    }

    @Test func rangesAreChecked() throws {
        #expect(throws: CassetteError.self) { try self.reader(#"{"x":-1}"#).int("x") }
        #expect(throws: CassetteError.self) { try self.reader(#"{"x":10}"#).int("x", in: 0...9) }
        #expect(throws: CassetteError.self) { try self.reader(#"{"x":9223372036854775808}"#).int("x") }
        #expect(throws: CassetteError.self) { try self.reader(#"{"x":9007199254740993}"#).int("x") }
        #expect(try self.reader(#"{"x":9007199254740992}"#).int("x") == 1 << 53)
        #expect(throws: CassetteError.self) { try self.reader(#"{"x":"a\tb"}"#).headString("x") }
        #expect(try self.reader(#"{"x":"a\tb"}"#).headString("x", allowingTabs: true) == "a\tb")
    }
}
