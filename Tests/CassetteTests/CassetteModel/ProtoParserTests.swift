@testable import CassetteModel
import TapeTestSupport
import Testing

struct ProtoParserTests {
    private func parse(_ bytes: [UInt8], fields: Int = 1000) -> ProtoMessage? {
        var parser = ProtoParser(fields: fields)
        return parser.parse(bytes)
    }

    @Test func everyWireTypeIsRead() {
        let bytes: [UInt8] =
            [0x08, 0x96, 0x01] + [0x15, 1, 2, 3, 4] + [0x19, 1, 2, 3, 4, 5, 6, 7, 8] + [0x22, 3] + Array("Rex".utf8)
            + [0x2B, 0x08, 0x01, 0x2C] + [0x32, 1, 0xFF]
        #expect(
            self.parse(bytes)?.fields == [
                ProtoField(1, .varint(150)), ProtoField(2, .fixed32(0x0403_0201)), ProtoField(3, .fixed64(0x0807_0605_0403_0201)),
                ProtoField(4, .text(Array("Rex".utf8))), ProtoField(5, .group(ProtoMessage(fields: [ProtoField(1, .varint(1))]))),
                ProtoField(6, .bytes([0xFF])),
            ])
        #expect(self.parse([]) == ProtoMessage())
    }

    /// A varint longer than needed, field 0, wire types 6 and 7, groups without an end, and lengths past the end.
    @Test(
        arguments: [
            [0x08, 0x80, 0x00], [0x88, 0x00, 0x01], [0x00, 0x01], [0x0E, 0x01], [0x0F], [0x0C], [0x0B], [0x0B, 0x14], [0x0A, 0x02, 0x01],
            [0x0A, 0x81, 0x00, 0x01], [0x0D, 1, 2, 3], [0x09, 1, 2, 3, 4, 5, 6, 7], [0x08], [0xFF],
            [0x08, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02], [0x88, 0x80, 0x80, 0x80, 0x80, 0x01, 0x01],
        ] as [[UInt8]])
    func nonCanonicalEncodingIsNoMessage(_ bytes: [UInt8]) {
        #expect(self.parse(bytes) == nil)
    }

    @Test func readableTextIsTextAndTheRestAMessageOrBytes() {
        func guess(_ inner: [UInt8]) -> ProtoValue? { self.parse([0x0A, UInt8(inner.count)] + inner)?.fields.first?.value }
        #expect(guess([]) == .text([]))
        #expect(guess(Array("a\tb\n".utf8)) == .text(Array("a\tb\n".utf8)))
        #expect(guess([0x08, 0x01]) == .message(ProtoMessage(fields: [ProtoField(1, .varint(1))])))
        #expect(guess([0xFF, 0x00]) == .bytes([0xFF, 0x00]))
        // The tag of field 1 is a line feed, and the length of a UUID is a dollar sign: all of it could be text.
        let id = Array("3f2b8d5e-0000-4000-8000-000000000001".utf8)
        #expect(guess([0x0A, 36] + id) == .message(ProtoMessage(fields: [ProtoField(1, .text(id))])))
        #expect(
            guess([0x22, 13] + Array("{{api-key:1}}".utf8))
                == .message(ProtoMessage(fields: [ProtoField(4, .text(Array("{{api-key:1}}".utf8)))])))
        #expect(guess(Array("\nline".utf8)) == .text(Array("\nline".utf8)))
    }

    @Test func parsedMessagesAreWrittenTheSame() {
        var random = RandomProto(seed: 11)
        var taken = 0
        for round in 0..<rounds(4000) {
            var bytes = random.message().bytes
            for _ in 0..<[0, 0, 1, 2][round % 4] where !bytes.isEmpty {
                bytes[Int.random(in: 0..<bytes.count, using: &random.generator)] = UInt8.random(in: 0...255, using: &random.generator)
            }
            guard let message = self.parse(bytes) else { continue }
            taken += 1
            #expect(message.bytes == bytes && message.size == bytes.count)
        }
        #expect(taken > rounds(2000))
    }

    @Test func messagesDeeperThanACassetteShowsStayInOnePiece() {
        var bytes: [UInt8] = [0x08, 0x01]
        for _ in 0..<40 { bytes = [0x0A, UInt8(bytes.count)] + bytes }
        var depth = 0
        var message = self.parse(bytes)
        #expect(message?.bytes == bytes)
        while case .message(let inner) = message?.fields.first?.value { (message, depth) = (inner, depth + 1) }
        #expect(depth == ProtoParser.levelLimit / ProtoParser.levelsOfMessage)
        guard case .bytes = message?.fields.first?.value else {
            Issue.record("the innermost are not bytes")
            return
        }
    }

    @Test func fieldsAreLimitedForAllMessagesTogether() {
        var parser = ProtoParser(fields: 3)
        #expect(parser.parse([0x08, 1, 0x08, 2]) != nil)
        // A failed message costs nothing.
        #expect(parser.parse([0x08, 1, 0x08, 2]) == nil)
        #expect(parser.parse([0x08, 1]) != nil)
        #expect(parser.fieldsLeft == 0)
    }

    /// Work that doubled with every level would take minutes.
    @Test func aMessageOfManyLevelsIsMeasuredAsFastAsAFlatOne() {
        var message = ProtoMessage(fields: [ProtoField(1, .varint(1))])
        for _ in 0..<28 { message = ProtoMessage(fields: [ProtoField(1, .message(message))]) }
        #expect(message.size == 58)
        #expect(message.bytes.count == 58)
    }
}
