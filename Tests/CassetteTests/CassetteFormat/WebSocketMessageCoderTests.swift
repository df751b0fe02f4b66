internal import CassetteModel
internal import TapeBytes
import TapeTestSupport
internal import Testing

@testable internal import CassetteFormat

@Suite struct WebSocketMessageCoderTests {
    private func text(_ messages: [WebSocketMessage]) -> String {
        var writer = JSONWriter()
        WebSocketMessageCoder.encode(messages, into: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func read(_ text: String) throws -> [WebSocketMessage] {
        try WebSocketMessageCoder.decode(list: JSONDocument(Array(text.utf8)).root, "webSocket", .textAlone)
    }

    private static func json(_ text: String, _ style: JSONStyle = .compact) -> WebSocketPayload { .json(Array(text.utf8), style: style) }

    @Test func conversationIsAMessageOnALine() throws {
        let messages = [
            WebSocketMessage(at: 3.1, from: .client, content: .text(Self.json(#"{"op":"subscribe"}"#))),
            WebSocketMessage(at: 9.8, from: .server, content: .text(.text(Array("ok".utf8))), isDeflated: true),
            WebSocketMessage(at: 10.2, from: .server, content: .binary(.bytes(Array("\u{A}\u{5}hello".utf8))), frames: [4, 3]),
            WebSocketMessage(at: 11, from: .server, content: .binary(Self.json("[1, 2]", .spaced))),
            WebSocketMessage(at: 12, from: .server, content: .text(.bytes([0xff])), reserved: 2, note: "kept as it was sent"),
            WebSocketMessage(
                at: 13, from: .client,
                content: .text(.file(Sidecar(path: "a.bodies/x.txt", size: 70_000, sha256: String(repeating: "0", count: 64))))),
            WebSocketMessage(at: 30_010.4, from: .server, content: .ping([])),
            WebSocketMessage(at: 30_011, from: .client, content: .pong([1, 2])),
            WebSocketMessage(at: 41_199, from: .server, content: .binary(.bytes([])), isThinned: true, isComplete: false),
            WebSocketMessage(at: 41_200, from: .client, content: .close(WebSocketClose(code: 1000, reason: Array("done".utf8)))),
            WebSocketMessage(at: 41_201, from: .server, content: .close(WebSocketClose())),
            WebSocketMessage(at: 41_202, from: .server, content: .close(WebSocketClose(payload: [3]))),
        ]
        let zeros = String(repeating: "0", count: 64)
        #expect(
            self.text(messages) == """
                [
                  { "at": 3.1, "from": "client", "json": { "op": "subscribe" } },
                  { "at": 9.8, "from": "server", "deflated": true, "text": "ok" },
                  { "at": 10.2, "from": "server", "base64": "CgVoZWxsbw==", "frames": [4, 3] },
                  { "at": 11, "from": "server", "style": "spaced", "json": [1, 2], "binary": true },
                  { "at": 12, "from": "server", "rsv": 2, "base64": "/w==", "binary": false, "note": "kept as it was sent" },
                  { "at": 13, "from": "client", "file": "a.bodies/x.txt", "size": 70000, "fileSha256": "\(zeros)", "binary": false },
                  { "at": 30010.4, "from": "server", "ping": "" },
                  { "at": 30011, "from": "client", "pong": { "base64": "AQI=" } },
                  { "at": 41199, "from": "server", "base64": "", "thinned": true, "complete": false },
                  { "at": 41200, "from": "client", "close": { "code": 1000, "reason": "done" } },
                  { "at": 41201, "from": "server", "close": {} },
                  { "at": 41202, "from": "server", "close": { "base64": "Aw==" } }
                ]
                """)
        #expect(try self.read(self.text(messages)) == messages)
    }

    @Test func longJSONAndTextOfLinesHaveLinesOfTheirOwn() throws {
        let long = #"{"words":["\#(String(repeating: "a", count: 60))","\#(String(repeating: "b", count: 60))"]}"#
        let messages = [
            WebSocketMessage(at: 1, from: .client, content: .text(Self.json(long))),
            WebSocketMessage(at: 2, from: .client, content: .text(.text(Array("SEND\nto:x\n\nhi\0".utf8)))),
        ]
        #expect(
            self.text(messages) == """
                [
                  {
                    "at": 1,
                    "from": "client",
                    "json": {
                      "words": [
                        "\(String(repeating: "a", count: 60))",
                        "\(String(repeating: "b", count: 60))"
                      ]
                    }
                  },
                  {
                    "at": 2,
                    "from": "client",
                    "text": [
                      "SEND\\n",
                      "to:x\\n",
                      "\\n",
                      "hi\\u0000"
                    ]
                  }
                ]
                """)
        #expect(try self.read(self.text(messages)) == messages)
    }

    @Test func membersOfANewerFormatStay() throws {
        let line = #"{ "at": 1, "from": "server", "text": "a", "later": [1] }"#
        #expect(self.text(try self.read("[\(line)]")) == "[\n  \(line)\n]")
    }

    @Test(arguments: [
        (#"{ "from": "server", "text": "a" }"#, "at: is missing"), (#"{ "at": 1, "text": "a" }"#, "from: is missing"),
        (#"{ "at": 1, "from": "both", "text": "a" }"#, "expected 'client' or 'server'"),
        (#"{ "at": 1, "from": "server" }"#, "expected one of"),
        (#"{ "at": 1, "from": "server", "text": "a", "ping": "" }"#, "expected one content"),
        (#"{ "at": 1, "from": "server", "base64": "a" }"#, "expected base64"),
        (#"{ "at": 1, "from": "server", "ping": { "base64": "a" } }"#, "expected base64"),
        (#"{ "at": 1, "from": "server", "ping": { "hex": "00" } }"#, "is not a member"),
        (#"{ "at": 1, "from": "server", "ping": "\#(String(repeating: "a", count: 126))" }"#, "at most 125 bytes"),
        (#"{ "at": 1, "from": "server", "close": { "code": 65536 } }"#, "from 0 to 65535"),
        (#"{ "at": 1, "from": "server", "close": { "reason": "a" } }"#, "code: is missing"),
        (#"{ "at": 1, "from": "server", "close": { "code": 1, "base64": "" } }"#, "without 'code'"),
        (
            #"{ "at": 1, "from": "server", "close": { "code": 1, "reason": "\#(String(repeating: "a", count: 124))" } }"#,
            "at most 123 bytes"
        ),
        (#"{ "at": 1, "from": "server", "file": "../a", "size": 1 }"#, "the path"),
        (#"{ "at": 1, "from": "server", "file": "a/b" }"#, "size"),
        (#"{ "at": 1, "from": "server", "text": "a", "rsv": 8 }"#, "from 0 to 7"),
        (#"{ "at": 1, "from": "server", "text": "a", "frames": [-1] }"#, "whole numbers from 0"),
        (#"{ "at": 1, "from": "server", "text": "a", "frames": 1 }"#, "expected an array"),
    ])
    func invalidMessageIsRefusedWithItsName(_ line: String, _ reason: String) throws {
        let error = #expect(throws: CassetteError.self) { try self.read("[\(line)]") }
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("webSocket[0]") == true)
    }

    /// Any bytes in any possible form read back the same, from a cassette and from a line of a journal.
    @Test(arguments: 0..<8) func anyMessageComesBack(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<rounds(150) {
            let messages = try (0..<4).map { _ in try Self.random(&generator) }
            #expect(try self.read(self.text(messages)) == messages)
            for message in messages {
                var writer = JSONWriter()
                WebSocketMessageCoder.encode(message, isOneLine: true, into: &writer)
                #expect(!writer.bytes.contains(10))
                #expect(try WebSocketMessageCoder.decode(writer.bytes, .textAlone) == message)
            }
        }
    }

    private static func random(_ generator: inout SeededGenerator) throws -> WebSocketMessage {
        let letter = { (generator: inout SeededGenerator) in UInt8.random(in: 0...255, using: &generator) }
        let bytes: [UInt8] =
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: (0..<Int.random(in: 0..<40, using: &generator)).map { _ in letter(&generator) }
            case 1: Array(#"{"a": [\#(Int.random(in: 0...9, using: &generator)), "\n"], "b": {}}"#.utf8)
            case 2: Array("{\n  \"a\": 1\n}\n".utf8)
            case 3: Array("[\(Array(repeating: "\"\(String(repeating: "é", count: 20))\"", count: 5).joined(separator: ","))]".utf8)
            default: (0..<Int.random(in: 0..<40, using: &generator)).map { _ in UInt8.random(in: 0...127, using: &generator) }
            }
        let isText = Bool.random(using: &generator)
        var sink = MemorySink()
        let payload = try WebSocketForm.payload(bytes, isText: isText, sink: &sink)
        let content: WebSocketContent =
            switch Int.random(in: 0..<8, using: &generator) {
            case 0: .ping(bytes.dropLast(max(0, bytes.count - 125)))
            case 1: .close(WebSocketClose(payload: bytes.dropLast(max(0, bytes.count - 125))))
            default: isText ? .text(payload) : .binary(payload)
            }
        return WebSocketMessage(
            at: Double(Int.random(in: 0...100_000, using: &generator)) / 8, from: Bool.random(using: &generator) ? .client : .server,
            content: content, isDeflated: Bool.random(using: &generator), reserved: Int.random(in: 0...3, using: &generator),
            frames: Bool.random(using: &generator) ? [] : [0, bytes.count], isThinned: Bool.random(using: &generator),
            isComplete: Bool.random(using: &generator), note: Bool.random(using: &generator) ? nil : "a \"note\"")
    }
}

@Suite struct WebSocketFormTests {
    @Test func textStaysTextWithAnyCharacters() throws {
        var sink = MemorySink()
        let text = Array("CONNECT\n\n\0".utf8)
        #expect(try WebSocketForm.payload(text, isText: true, sink: &sink) == .text(text))
        #expect(try WebSocketForm.payload(text, isText: false, sink: &sink) == .bytes(text))
        #expect(try WebSocketForm.payload([0xff], isText: true, sink: &sink) == .bytes([0xff]))
        #expect(try WebSocketForm.payload(Array("[1]".utf8), isText: false, sink: &sink) == .json(Array("[1]".utf8), style: .compact))
        #expect(sink.files.isEmpty)
    }

    @Test func longMessagesGoToFilesNamedAfterTheirType() throws {
        for (bytes, isText, ending) in [
            ([UInt8](repeating: 97, count: 65_537), true, ".txt"), ([91] + [UInt8](repeating: 32, count: 65_537), true, ".json"),
            ([UInt8](repeating: 0, count: 4_097), false, ".bin"),
            ([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10] + [UInt8](repeating: 0, count: 5_000), false, ".png"),
        ] {
            for source in [true, false] {
                var sink = MemorySink()
                let payload =
                    source
                    ? try WebSocketForm.payload(ByteSource(bytes), isText: isText, sink: &sink)
                    : try WebSocketForm.payload(bytes, isText: isText, sink: &sink)
                guard case .file(let sidecar) = payload else { throw TestProblem("no file") }
                #expect(sidecar.path.hasSuffix(ending))
                #expect(sink.files[sidecar.path] == bytes)
            }
        }
    }
}
