@testable import CassetteFormat
@testable import CassetteModel
@testable import TapeBytes
import Testing

@Suite struct ObjectReaderTests {
    private func reader(_ text: String) throws -> ObjectReader {
        try ObjectReader(JSONDocument(Array(text.utf8)).root, "a.b", .textAlone, known: ["x", "y"])
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

@Suite struct HeadBytesTests {
    private func written(_ bytes: [UInt8]) -> [UInt8] {
        var writer = JSONWriter()
        bytes.withUnsafeBytes { HeadBytes.write($0, &writer) }
        return writer.bytes
    }

    private func read(_ json: [UInt8], line: Bool = false) throws -> [UInt8] {
        let value = try JSONDocument(Array("{\"a\":".utf8) + json + Array("}".utf8)).root
        let reader = try ObjectReader(value, "", .textAlone, known: ["a"])
        let member = try reader.required("a")
        return try line ? HeadBytes.decodeLine(member, "a", reader) : HeadBytes.decode(member, "a", reader)
    }

    @Test func anyBytesComeBack() throws {
        for bytes in [[], Array("음식\r\n\0".utf8), Array(0...255), [0xFF]] { #expect(try self.read(self.written(bytes)) == bytes) }
        #expect(self.written([0xE9]) == Array("{ \"latin1\": \"é\" }".utf8))
    }

    @Test func aLineHasNoLineEnds() {
        for text in [#""a\n""#, #""a\r""#, #""\u0000""#, #"{ "latin1": "\n" }"#, #"{ "latin1": "음" }"#, "1", #"{ "latin2": "" }"#] {
            #expect(throws: CassetteError.self) { try self.read(Array(text.utf8), line: true) }
        }
    }
}
