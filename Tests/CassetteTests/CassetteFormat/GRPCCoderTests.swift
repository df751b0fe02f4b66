@testable import CassetteFormat
@testable import CassetteModel
@testable import TapeBytes
import TapeTestSupport
import Testing

struct GRPCCoderTests {
    private func body(_ members: String) throws -> Body {
        let text =
            #"{"id":1,"started":"2026-11-21T04:19:28Z","request":{"method":"POST","url":"http://a/","body":{"#
            + members + "}}}"
        return try #require(try decodeInteraction(text).request.body)
    }

    private func written(_ messages: GRPCMessages) -> String {
        var writer = JSONWriter()
        BodyEncoder.encode(Body(size: 0, content: .grpc(messages)), into: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test func messagesAreReadableAndEachFieldOfALongOneHasItsLine() throws {
        let pet = ProtoMessage(fields: [
            ProtoField(1, name: "name", .text(Array("Rex".utf8))), ProtoField(2, .fixed64(0x4009_21FB_5444_2D18)),
            ProtoField(3, name: "weight", .fixed64(Double(2.5).bitPattern, isDouble: true)), ProtoField(4, .varint(UInt64.max)),
            ProtoField(5, .varint(1 << 60)), ProtoField(6, .packed([.varint(1), .varint(2)])),
            ProtoField(7, name: "kind", .varint(1), label: "DOG"),
        ])
        let messages = GRPCMessages(
            messages: [
                GRPCMessage(after: 1, content: .proto(ProtoMessage(fields: [ProtoField(1, name: "ok", .varint(1))]))),
                GRPCMessage(
                    content: .proto(ProtoMessage(fields: [ProtoField(1, name: "pet", .message(pet)), ProtoField(2, .bytes([255]))]))),
                GRPCMessage(isCompressed: true, content: .binary([0x1F, 0x8B])),
                GRPCMessage(
                    isCompressed: true, content: .json(Array("{\"a\":1}".utf8), style: .compact),
                    coding: .gzip(DeflateParameters(level: 6), header: .plain),
                    codedSize: 27),
            ], rest: [0, 0])
        let text = self.written(messages)
        #expect(
            text == #"""
                {
                  "size": 0,
                  "grpc": [
                    { "after": 1, "proto": [["1:ok", 1]] },
                    {
                      "proto": [
                        ["1:pet", [
                          ["1:name", "Rex"],
                          ["2", { "i64": "400921fb54442d18" }],
                          ["3:weight", { "double": 2.5 }],
                          ["4", -1],
                          ["5", { "varint": "1152921504606846976" }],
                          ["6", { "packed": [1, 2] }],
                          ["7:kind", 1, "DOG"]
                        ]],
                        ["2", { "base64": "/w==" }]
                      ]
                    },
                    { "compressed": true, "base64": "H4s=" },
                    {
                      "compressed": { "gzip": { "level": 6 } },
                      "codedSize": 27,
                      "json": { "a": 1 }
                    }
                  ],
                  "rest": "AAA="
                }
                """#)
        #expect(try self.body(String(text.dropFirst().dropLast())).content == .grpc(messages))
    }

    @Test func readersTakeTheDigitsAndTheValue() throws {
        let content = try self.body(#""grpc": [{ "proto": [["1:wrong name", 5, "whatever"], ["2", 18446744073709551615]] }]"#).content
        guard case .grpc(let messages) = content, case .proto(let message) = messages.messages.first?.content else {
            Issue.record("no messages")
            return
        }
        #expect(message.bytes == [0x08, 5, 0x10, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1])
        #expect(try self.body(#""grpc": [{ "text": "abc" }, { "proto": [] }]"#).size == 13)
    }

    @Test(arguments: [
        (#""grpc": {}"#, "grpc"), (#""grpc": [{}]"#, "proto"), (#""grpc": [{ "proto": [["x", 1]] }]"#, "field number"),
        (#""grpc": [{ "proto": [["0", 1]] }]"#, "field number"), (#""grpc": [{ "proto": [["536870912", 1]] }]"#, "field number"),
        (#""grpc": [{ "proto": [["1", 1.5]] }]"#, "whole number"), (#""grpc": [{ "proto": [["1", true]] }]"#, "a bool is 0 or 1"),
        (#""grpc": [{ "proto": [["1", { "i64": "00" }]] }]"#, "16 hex digits"),
        (#""grpc": [{ "proto": [["1", { "odd": 1 }]] }]"#, "unknown"),
        (#""grpc": [{ "proto": [["1", { "packed": ["a"] }]] }]"#, "numbers"), (#""grpc": [{ "proto": [], "text": "" }]"#, "one content"),
        (#""grpc": [{ "proto": [], "original": "AA==" }]"#, "names a coding"), (#""grpc": [{ "text": "", "after": -1 }]"#, "after"),
        (#""grpc": [{ "file": "a.bodies/b", "size": 5 }], "rest": "x""#, "base64"), (#""grpc": [{ "file": "../b", "size": 5 }]"#, "folder"),
        (#""text": "", "marks": [[0, 1]]"#, "runs"), (#""text": "", "marks": [[1, -1]]"#, "runs"),
    ])
    func mistakesAreNamed(_ members: String, _ words: String) {
        let error = #expect(throws: CassetteError.self) { try self.body(members) }
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    @Test func messagesTooDeepToBeWrittenAgainAreRefused() throws {
        func nested(_ count: Int) -> String {
            "\"grpc\": [{ \"proto\": " + String(repeating: "[[\"1\", ", count: count) + "[]" + String(repeating: "]]", count: count) + " }]"
        }
        let body = try self.body(nested(28))
        var writer = JSONWriter()
        let interaction = Interaction(
            id: 1, started: Timestamp(microseconds: 0), request: RecordedRequest(method: "GET", url: "http://a/", body: body))
        InteractionEncoder.encode(interaction, into: &writer)
        #expect(try InteractionDecoder.decode(writer.bytes, at: .textAlone) == interaction)
        #expect((#expect(throws: CassetteError.self) { try self.body(nested(29)) })?.code == .tooLarge)
    }

    @Test func randomMessagesAreReadAsTheyWereWritten() throws {
        var random = RandomProto(seed: 3)
        for _ in 0..<rounds(1000) {
            let messages = GRPCMessages(messages: [GRPCMessage(after: 3, content: .proto(random.message()))], rest: random.bytes(9))
            let text = self.written(messages)
            guard try self.body(String(text.dropFirst().dropLast())).content == .grpc(messages) else {
                Issue.record("changed: \(text)")
                return
            }
        }
    }

    @Test func marksAndPlacesOfAnAnswerAreKept() throws {
        var marks = ConversationMarks()
        for after in [0, 0, 2, nil] as [Int?] { marks.append(after: after) }
        var interaction = Interaction(
            id: 1, started: Timestamp(microseconds: 0), request: RecordedRequest(method: "GET", url: "http://a/"),
            response: RecordedResponse(
                status: 200, version: .http2, body: Body(size: 1, content: .text([0x61]), marks: marks)),
            connection: ConnectionInfo(id: 1, stream: 7, remote: "127.0.0.1:1", isReused: false))
        interaction.response?.after = 0
        interaction.response?.endAfter = 3
        var writer = JSONWriter()
        InteractionEncoder.encode(interaction, into: &writer)
        #expect(try InteractionDecoder.decode(writer.bytes, at: .textAlone) == interaction)
        let text = String(decoding: writer.bytes, as: UTF8.self)
        #expect(text.contains(#""marks": [[2, 0], [1, 2], [1]]"#) && text.contains(#""stream": 7"#))
        // HTTP/2 has no reason phrase.
        #expect(!text.contains("reason"))
    }
}
