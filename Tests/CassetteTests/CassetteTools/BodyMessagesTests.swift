@testable import CassetteFormat
@testable import CassetteModel
import CassetteStore
@testable import CassetteTools
import Testing

@Suite struct BodyMessagesTests {
    private let reader = BodyReader(cassettePath: "/nowhere/pets.json")

    private func messages(_ interaction: Interaction) throws -> BodyMessages {
        try #require(interaction.response?.body.flatMap { BodyMessages($0, reader: self.reader) })
    }

    @Test func aMessageIsNamedByItsNumber() throws {
        let messages = try self.messages(.call([], [.fields(.text(1, "Rex")), .fields(.text(1, "Tom"), after: 2)]))
        #expect(messages.all.map(\.words) == ["message 1, 5 B", "message 2, 5 B, after 2 messages of the client"])
        #expect(try messages["2"]?.contents().prefix(9) == ProtoMessage(fields: [.text(1, "Tom")]).bytes)
        #expect(messages["0"] == nil)
        #expect(messages["3"] == nil)
        #expect(messages["x"] == nil)
    }

    @Test func aCompressedMessageIsReadWithoutItsCodingAndAsItCame() throws {
        let tree = ProtoMessage(fields: [.text(1, String(repeating: "plain ", count: 30))])
        let coded = try #require(tree.bytes.withUnsafeBytes { Deflater.encode($0, DeflateParameters(level: 6), format: .gzip) })
        let message = GRPCMessage(
            isCompressed: true, content: .proto(tree), coding: .gzip(DeflateParameters(level: 6), header: .plain), codedSize: coded.count)
        let messages = try self.messages(.call([], [message]))
        #expect(messages.all[0].words == "message 1, gzip level 6, \(coded.count) → \(tree.size) bytes")
        #expect(try messages.all[0].contents().prefix(1000) == tree.bytes)
        #expect(try messages.all[0].contents(raw: true).prefix(1000) == coded)
    }

    @Test func otherBodiesHaveNone() {
        #expect(BodyMessages(.text("a"), reader: self.reader) == nil)
    }

    // MARK: Trees

    private func lines(_ fields: ProtoField...) -> [String] {
        var lines: [String] = []
        ProtoText.write(ProtoMessage(fields: fields)) { line in
            lines.append(
                String(repeating: "  ", count: line.depth) + "\(line.key) \(line.value)\(line.label.isEmpty ? "" : " (\(line.label))")")
            return true
        }
        return lines
    }

    @Test func aTreeIsIndentedFieldByField() {
        #expect(
            self.lines(
                .message(1, .text(2, "Rex", name: "name"), ProtoField(3, name: "kind", .varint(2), label: "DOG"), name: "pet"), .message(4))
                == ["1:pet ", "  2:name \"Rex\"", "  3:kind 2 (DOG)", "4 {}"])
    }

    @Test(arguments: [
        (ProtoValue.varint(3), "3"), (.varint(.max), "-1"), (.fixed32(0x3FC0_0000, isFloat: true), "1.5"),
        (.fixed32(10), "0x0000000a (32 bits)"), (.fixed64(0x4000_0000_0000_0000, isDouble: true), "2.0"), (.bytes([0xFF, 0]), "2 B ff00"),
        (.packed([.varint(1), .varint(2)]), "[1, 2]"), (.text(Array("a\u{1B}[1m".utf8)), #""a\u{1b}[1m""#), (.bytes([]), "0 B"),
    ])
    func aValueTakesOneLine(value: ProtoValue, text: String) {
        #expect(ProtoText.value(value) == text)
    }

    @Test func aTreeEndsWhereNoMoreIsWanted() {
        var count = 0
        ProtoText.write(ProtoMessage(fields: [.message(1, .text(1, "a"), .text(2, "b")), .text(3, "c")])) { _ in
            count += 1
            return count < 2
        }
        #expect(count == 2)
    }
}
