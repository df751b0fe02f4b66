@testable import CassetteModel
import TapeTestSupport
import Testing

struct ProtoSchemaTests {
    private let schema: ProtoSchema

    init() throws { self.schema = try ProtoSchema(files: [SampleSchema.bytes]) }

    private func parse(_ message: ProtoMessage) throws -> ProtoMessage {
        let types = try #require(self.schema.types(ofURL: "https://pets.test:1234/pets.v1.Pets/Get?x=1"))
        var parser = ProtoParser(fields: 1000)
        let parsed = parser.parse(message.bytes, as: types.request)
        let found = try #require(parsed)
        #expect(found.bytes == message.bytes)
        return found
    }

    @Test func methodsAreFoundByTheirPath() {
        #expect(self.schema.counts.methods == 1)
        #expect(self.schema.types(ofPath: "/pets.v1.Pets/Get") != nil)
        #expect(self.schema.types(ofPath: "/pets.v1.Pets/Other") == nil)
        #expect(self.schema.types(ofURL: "nonsense") == nil)
    }

    @Test func declaredTypesDecideTheMeaningOfValues() throws {
        let plain = ProtoMessage(fields: [
            ProtoField(1, .bytes(Array("\n$ is text".utf8))), ProtoField(2, .text(Array("raw".utf8))), ProtoField(3, .varint(1)),
            ProtoField(4, .varint(1)), ProtoField(5, .varint(3)), ProtoField(6, .fixed64(Double(2.5).bitPattern)),
            ProtoField(7, .bytes([1, 0x96, 0x01])), ProtoField(9, .varint(1)),
        ])
        #expect(
            try self.parse(plain).fields == [
                ProtoField(1, name: "name", .text(Array("\n$ is text".utf8))), ProtoField(2, name: "photo", .bytes(Array("raw".utf8))),
                ProtoField(3, name: "kind", .varint(1), label: "DOG"), ProtoField(4, name: "good", .varint(1), label: "true"),
                ProtoField(5, name: "delta", .varint(3), label: "-2"),
                ProtoField(6, name: "weight", .fixed64(Double(2.5).bitPattern, isDouble: true)),
                ProtoField(7, name: "ids", .packed([.varint(1), .varint(150)])), ProtoField(9, .varint(1)),
            ])
    }

    @Test func mapEntriesAndInnerMessagesHaveTheirNames() throws {
        let entry = ProtoMessage(fields: [ProtoField(1, .text([0x61])), ProtoField(2, .varint(1))])
        let parent = ProtoMessage(fields: [ProtoField(1, .text([0x62]))])
        let found = try self.parse(ProtoMessage(fields: [ProtoField(8, .message(entry)), ProtoField(10, .message(parent))]))
        #expect(
            found.fields == [
                ProtoField(
                    8, name: "labels",
                    .entry(ProtoMessage(fields: [ProtoField(1, name: "key", .text([0x61])), ProtoField(2, name: "value", .varint(1))]))),
                ProtoField(10, name: "parent", .message(ProtoMessage(fields: [ProtoField(1, name: "name", .text([0x62]))]))),
            ])
    }

    @Test func aMessageThatDoesNotFitKeepsItsNumbersAlone() throws {
        // Field 1 is a string in the schema.
        let inner = ProtoMessage(fields: [ProtoField(1, .varint(7)), ProtoField(3, .varint(1))])
        let found = try self.parse(ProtoMessage(fields: [ProtoField(3, .varint(1)), ProtoField(10, .message(inner))]))
        #expect(found.fields == [ProtoField(3, name: "kind", .varint(1), label: "DOG"), ProtoField(10, name: "parent", .message(inner))])
    }

    @Test func namesOutliveAChangeOfTheMessage() throws {
        let named = try self.parse(
            ProtoMessage(fields: [
                ProtoField(1, .text([0x61])), ProtoField(7, .bytes([1, 2])),
                ProtoField(8, .message(ProtoMessage(fields: [ProtoField(1, .text([0x62])), ProtoField(2, .varint(3))]))),
            ]))
        var changed = named
        changed.fields[0].value = .text([0x63])
        changed.fields[2].value = .entry(
            ProtoMessage(fields: [ProtoField(1, name: "key", .text([0x64])), ProtoField(2, name: "value", .varint(3))]))
        var parser = ProtoParser(fields: 99)
        var plain = parser.parse(changed.bytes)
        plain?.takeLabels(from: named)
        #expect(plain == changed)
    }

    @Test(arguments: [[], [0x08, 1], Array("{\"file\": []}".utf8), [0x0A, 0x02, 0x22, 0x05]] as [[UInt8]])
    func invalidDescriptorSetIsRefused(_ bytes: [UInt8]) {
        #expect(throws: ProtoSchema.Problem.self) { try ProtoSchema(files: [bytes]) }
    }

    @Test func noDamageTraps() {
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<rounds(500) {
            var bytes = SampleSchema.bytes
            for _ in 0..<3 { bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator) }
            guard let schema = try? ProtoSchema(files: [bytes]), let type = schema.types(ofPath: "/pets.v1.Pets/Get")?.request else {
                continue
            }
            var random = RandomProto(seed: generator.next())
            let message = random.message().bytes
            var parser = ProtoParser(fields: 1000)
            if let found = parser.parse(message, as: type) { #expect(found.bytes == message) }
        }
    }
}
