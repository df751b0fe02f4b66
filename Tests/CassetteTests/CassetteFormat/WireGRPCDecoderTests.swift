@testable import CassetteFormat
@testable import CassetteModel
@testable import TapeBytes
import TapeTestSupport
import Testing

struct WireGRPCDecoderTests {
    private static let proto = ["Content-Type: application/grpc"]

    private static func frame(_ payload: [UInt8], isCompressed: Bool = false) -> [UInt8] {
        [isCompressed ? 1 : 0] + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: payload.count >> $0) } + payload
    }

    private func decode(_ wire: [UInt8], _ lines: [String] = Self.proto, isComplete: Bool = true, sink: inout MemorySink) throws -> Body {
        var decoder = WireBodyDecoder(makeDigest: { TestDigest() })
        return try decoder.decode(wire, headers: HeaderFields(lines), origin: "o", isComplete: isComplete, sink: &sink)
    }

    private func messages(_ wire: [UInt8], _ lines: [String] = Self.proto, sink: inout MemorySink) throws -> GRPCMessages {
        guard case .grpc(let messages) = try self.decode(wire, lines, sink: &sink).content else { throw TestProblem("no messages") }
        return messages
    }

    private func restored(_ body: Body, _ sink: MemorySink) throws -> BodyRestorer.Restored {
        try BodyRestorer.wireBytes(of: body, file: { try sink.read($0) }, raw: { _ in [] }, digest: TestDigest())
    }

    @Test func messagesAreFieldsJSONOrText() throws {
        var sink = MemorySink()
        let rex: [UInt8] = [0x0A, 3] + Array("Rex".utf8)
        #expect(
            try self.messages(Self.frame(rex) + Self.frame([]), sink: &sink).messages.map(\.content) == [
                .proto(ProtoMessage(fields: [ProtoField(1, .text(Array("Rex".utf8)))])), .proto(ProtoMessage()),
            ])
        let json = Array("{\"a\": 1, \"b\": 2}".utf8)
        #expect(
            try self.messages(Self.frame(json), ["Content-Type: application/grpc+json"], sink: &sink).messages.map(\.content)
                == [.json(json, style: .spaced)])
        #expect(
            try self.messages(Self.frame(json) + Self.frame([255]), ["Content-Type: application/grpc+thrift; x=1"], sink: &sink).messages
                .map(\.content) == [.text(json), .binary([255])])
        #expect(try self.messages(Self.frame([255]), sink: &sink).messages.map(\.content) == [.binary([255])])
        // A variant of the same name.
        #expect(try self.decode(Self.frame(rex), ["Content-Type: application/grpc-web"], sink: &sink).content == .binary(Self.frame(rex)))
    }

    @Test func aCutBodyKeepsItsRest() throws {
        var sink = MemorySink()
        let wire = Self.frame([0x08, 1]) + [0, 0, 0]
        let cut = try self.decode(wire, isComplete: false, sink: &sink)
        #expect(cut.note == nil && !cut.isComplete)
        guard case .grpc(let messages) = cut.content else { throw TestProblem("no messages") }
        #expect(messages.rest == [0, 0, 0] && messages.messages.count == 1)
        #expect(try self.restored(cut, sink) == BodyRestorer.Restored(bytes: wire, isEdited: false))
        #expect(try self.decode(wire, sink: &sink).note == "it ends within message 2")
    }

    @Test func bodyWithoutValidMessagesStaysWholeWithANote() throws {
        var sink = MemorySink()
        let wire = Self.frame([0x08, 1]) + [0x80, 0, 0, 0, 0]
        let body = try self.decode(wire, sink: &sink)
        #expect(body.content == .binary(wire))
        #expect(body.note == "not split into messages: byte 7 begins no message: its flags are 0x80, not 0 or 1")
        #expect(!body.isUndecoded(HeaderFields(Self.proto)))
    }

    @Test func longMessagesAndThoseBeyondTheRoomAreFiles() throws {
        var sink = MemorySink()
        let long: [UInt8] = [0x0A, 0x80, 0x80, 0x04] + Array(repeating: 0x61, count: 65_536)
        let many = (0..<20).map { _ in Self.frame([0x0A, 0xE0, 0xD4, 0x03] + Array(repeating: 0x62, count: 60_000)) }
        let wire = Self.frame(long) + many.joined()
        let body = try self.decode(wire, sink: &sink)
        guard case .grpc(let messages) = body.content else { throw TestProblem("no messages") }
        #expect(messages.sidecars.count == 1 + 20 - WireGRPCDecoder.inlineLimit / 60_004)
        #expect(messages.sidecars.allSatisfy { $0.path.hasSuffix(".pb") })
        #expect(try self.restored(body, sink) == BodyRestorer.Restored(bytes: wire, isEdited: false))
        #expect(body.byteCount == wire.count)
    }

    @Test func moreMessagesThanAreShownStayInOnePiece() throws {
        var sink = MemorySink()
        let wire = Array((0...GRPCMessages.limit).map { _ in Self.frame([]) }.joined())
        let body = try self.decode(wire, sink: &sink)
        #expect(body.note == "not split into messages: it has more than 16384")
        #expect(try self.restored(body, sink).bytes == wire)
    }

    // MARK: Compressed messages

    @Test func compressedMessagesAreReadableIfTheyCanBeRestored() throws {
        var sink = MemorySink()
        let plain: [UInt8] = [0x0A, 120] + Array(repeating: 0x61, count: 120)
        let gzip = CodingFixtures.deflated(plain, DeflateParameters(level: 6), .gzip)
        let wire = Self.frame(gzip, isCompressed: true) + Self.frame(plain)
        let body = try self.decode(wire, Self.proto + ["grpc-encoding: gzip"], sink: &sink)
        guard case .grpc(var messages) = body.content else { throw TestProblem("no messages") }
        #expect(messages.messages.map(\.content) == [messages.messages[1].content, messages.messages[1].content])
        #expect(
            messages.messages[0].coding == .gzip(DeflateParameters(level: 6), header: .plain)
                && messages.messages[0].codedSize == gzip.count)
        #expect(body.sha256?.count == 64)
        #expect(try self.restored(body, sink) == BodyRestorer.Restored(bytes: wire, isEdited: false))
        // After an edit by hand, it is compressed again, and its length follows.
        messages.messages[0].content = .proto(ProtoMessage(fields: [ProtoField(1, .text([0x62]))]))
        var edited = body
        edited.content = .grpc(messages)
        let new = try self.restored(edited, sink)
        #expect(new.isEdited)
        let again = try self.messages(new.bytes, Self.proto + ["grpc-encoding: gzip"], sink: &sink)
        #expect(again.messages.first?.content == messages.messages[0].content)
    }

    @Test func bytesThatNoParametersReproduceAreKeptWithTheMessage() throws {
        var sink = MemorySink()
        let wire = Self.frame(CodingFixtures.gzipGo, isCompressed: true)
        let body = try self.decode(wire, ["Content-Type: application/grpc+json", "grpc-encoding: gzip"], sink: &sink)
        guard case .grpc(var messages) = body.content else { throw TestProblem("no messages") }
        #expect(messages.messages.first?.original == .bytes(CodingFixtures.gzipGo))
        #expect(messages.messages.first?.content == .json(CodingFixtures.content, style: .spaced))
        #expect(try self.restored(body, sink) == BodyRestorer.Restored(bytes: wire, isEdited: false))
        messages.messages[0].content = .text([0x62])
        var edited = body
        edited.content = .grpc(messages)
        #expect(try self.restored(edited, sink).isEdited)
    }

    @Test(
        arguments: [
            ([1, 2, 3], "gzip"), (CodingFixtures.gzip6, "snappy"), (CodingFixtures.gzip6, "identity"),
            (Array(CodingFixtures.gzip6.dropLast()), "gzip"),
            (CodingFixtures.gzip6 + [0], "gzip"),
        ] as [([UInt8], String)])
    func messageThatCannotBeInflatedStaysCompressed(_ payload: [UInt8], _ coding: String) throws {
        var sink = MemorySink()
        let wire = Self.frame(payload, isCompressed: true)
        let messages = try self.messages(wire, Self.proto + ["grpc-encoding: \(coding)"], sink: &sink)
        #expect(messages.messages == [GRPCMessage(isCompressed: true, content: .binary(payload))])
    }

    // MARK: Any bytes

    /// Any bytes under the type are the same after decoding, writing, reading and restoring.
    @Test func anyBytesComeBackFromTheCassette() throws {
        var random = RandomProto(seed: 21)
        let types = ["application/grpc", "application/grpc+proto", "application/grpc+json", "application/grpc+x"]
        var split = 0
        for round in 0..<rounds(600) {
            var wire: [UInt8] = []
            for _ in 0..<Int.random(in: 0...4, using: &random.generator) {
                var payload = Int.random(in: 0..<4, using: &random.generator) == 0 ? random.bytes(40) : random.message().bytes
                let isCompressed = Int.random(in: 0..<3, using: &random.generator) == 0
                if isCompressed, round % 2 == 0 { payload = CodingFixtures.deflated(payload, DeflateParameters(level: round % 10), .gzip) }
                wire += Self.frame(payload, isCompressed: isCompressed)
            }
            if round % 3 == 0, !wire.isEmpty {
                wire[Int.random(in: 0..<wire.count, using: &random.generator)] = UInt8.random(in: 0...255, using: &random.generator)
            }
            if round % 5 == 0 { wire = Array(wire.dropLast(3)) }
            let headers = ["Content-Type: \(types[round % 4])"] + (round % 2 == 0 ? ["grpc-encoding: gzip"] : [])
            var sink = MemorySink()
            let body = try self.decode(wire, headers, isComplete: round % 5 != 0, sink: &sink)
            if case .grpc = body.content { split += 1 }
            let interaction = Interaction(
                id: 1, started: Timestamp(microseconds: 0),
                request: RecordedRequest(method: "POST", url: "http://a/", headers: HeaderFields(headers), body: body))
            var writer = JSONWriter()
            InteractionEncoder.encode(interaction, into: &writer)
            let read = try #require(try InteractionDecoder.decode(writer.bytes, at: .textAlone).request.body)
            #expect(read == body)
            #expect(try self.restored(read, sink) == BodyRestorer.Restored(bytes: wire, isEdited: false))
        }
        #expect(split > rounds(300))
    }

    @Test func aBodyInOnePieceIsSplitLaterAndTakesItsMarks() throws {
        var sink = MemorySink()
        let wire = Self.frame([0x08, 1]) + Self.frame([0x08, 2])
        var marks = ConversationMarks()
        for after in [0, 1] { marks.append(after: after) }
        let old = Body(size: wire.count, content: .binary(wire), marks: marks)
        #expect(old.isUndecoded(HeaderFields(Self.proto)))
        var decoder = WireBodyDecoder(makeDigest: { TestDigest() })
        let body = try decoder.decodeParts(of: old, from: ByteSource(wire), headers: HeaderFields(Self.proto), origin: "o", sink: &sink)
        guard case .grpc(let messages) = body.content else { throw TestProblem("no messages") }
        #expect(messages.messages.map(\.after) == [0, 1] && body.marks == nil && body.conversationMarks == marks)
    }
}
