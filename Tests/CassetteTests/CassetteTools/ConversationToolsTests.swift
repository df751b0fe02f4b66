import CassetteModel
import CassettePlayback
import CassetteStore
import Foundation
@testable import CassetteTools
import TapeTestSupport
import Testing

/// The output of the tools for conversations: words, events, differences, and problems.
@Suite struct ConversationToolsTests {
    private let folder: CareFolder

    init() throws { self.folder = try CareFolder() }

    private static func text(_ at: Double, _ from: WebSocketSide, _ text: String) -> WebSocketMessage {
        let bytes = Array(text.utf8)
        return WebSocketMessage(
            at: at, from: from, content: .text(text.first == "{" ? .json(bytes, style: .compact) : .text(bytes)))
    }

    private static func close(_ at: Double, _ from: WebSocketSide, _ code: UInt16, _ reason: String = "") -> WebSocketMessage {
        WebSocketMessage(at: at, from: from, content: .close(WebSocketClose(code: code, reason: Array(reason.utf8))))
    }

    private static func talk(_ id: Int = 1, _ messages: [WebSocketMessage]) -> Interaction {
        var talk = ConversationFixtures.head(id)
        talk.webSocket = .inline(messages)
        return talk
    }

    // MARK: Words

    @Test func eachMessageIsNamedAfterItsKind() throws {
        var long = Self.text(12, .server, "abcd")
        (long.frames, long.isDeflated, long.isComplete) = ([3, 1], true, false)
        let messages: [WebSocketMessage] = [
            Self.text(1, .client, "hello"), WebSocketMessage(at: 2, from: .server, content: .ping(Array("beat".utf8))),
            WebSocketMessage(at: 3, from: .client, content: .pong([0xFF])), long,
            WebSocketMessage(at: 13, from: .client, content: .binary(.bytes([1, 2])), reserved: 4), Self.close(14, .server, 1000, "done"),
            WebSocketMessage(at: 15, from: .client, content: .close(WebSocketClose())),
        ]
        var words: [String] = []
        try BodyReader(cassettePath: "/nowhere/pets.json").forEachSocketMessage(of: .inline(messages)) { message in
            words.append(message.words)
            return true
        }
        #expect(
            words == [
                "message 1 → text, 5 B, 1.0 ms", "message 2 ← ping \"beat\", 2.0 ms", "message 3 → pong ff, 3.0 ms",
                "message 4 ← text, 4 B, 12 ms, deflated, in 2 frames, cut short",
                "message 5 → binary, 2 B, 13 ms, reserved bits 4 not understood", "message 6 ← close 1000 \"done\", 14 ms",
                "message 7 → close, 15 ms",
            ])
        let summary = try SocketSummary(.inline(messages), reader: BodyReader(cassettePath: "/nowhere/pets.json"))
        #expect(
            summary.lines == [
                "7 messages", "→ 2 from the client, 7 B", "← 1 from the server, 4 B", "4 pings, pongs and closes",
                "first closed by the server 1000 \"done\"",
            ])
    }

    // MARK: Events

    private static let stream = "retry: 10\n\ndata: one\n\nid: 7\nevent: price\ndata: two\n\n: still there\n\n"

    private func events(_ body: Body, _ fields: [String] = ["Content-Type: text/event-stream"]) throws -> BodyEvents? {
        let headers = HeaderFields(fields)
        let reader = BodyReader(cassettePath: self.folder.file("a.json"))
        return try BodyEvents(body, headers: headers, contents: BodyContents(body, headers: headers, reader: reader))
    }

    private func words(_ events: BodyEvents?) throws -> [String] {
        var words: [String] = []
        try events?.forEach { event in
            words.append(event.words)
            return true
        }
        return words
    }

    @Test(arguments: ["", "data: begun"]) func eventsAreReadFromBodiesInAnyPlace(rest: String) throws {
        let bytes = Array((Self.stream + rest).utf8)
        let pieces = [Arrival.Piece(at: 5, size: 25), Arrival.Piece(at: 90, size: bytes.count - 25)]
        let stream = try #require(EventStream(bytes))
        let file = try self.folder.sidecar(bytes, of: "a.json")
        for content in [BodyContent.events(stream), .text(bytes), .file(file)] {
            let body = Body(size: bytes.count, content: content, arrival: Arrival(isChunked: false, pieces: pieces))
            let events = try self.events(body)
            #expect(try self.words(events) == ["event 1, 3 B, 5.0 ms after the head", "event 2, price, id 7, 3 B, 90 ms after the head"])
            #expect(events?.count == 2 && events?.rest == rest.utf8.count)
            #expect(try events?.event(2)?.event.data == Array("two".utf8))
            #expect(try events?.event(3) == nil)
        }
    }

    @Test func otherBodiesHaveNoEvents() throws {
        let bytes = Array(Self.stream.utf8)
        #expect(try self.events(Body(size: bytes.count, content: .text(bytes)), ["Content-Type: text/plain"]) == nil)
        #expect(try self.events(Body(size: 3, content: .text(Array("id:".utf8)))) == nil)
    }

    @Test func aCarriageReturnEndsALineToo() throws {
        let bytes = Array("data: a\r\n\r\ndata: b\r\n\r\n".utf8)
        let events = try self.events(Body(size: bytes.count, content: .text(bytes)))
        #expect(events?.count == 2 && events?.rest == 0)
    }

    /// Bodies that came in two pieces.
    @Test(
        arguments: [
            ("application/x-ndjson", "{\"a\":1}\n\n[2]\n3", ["line 1, 7 B", "line 2, 3 B", "line 3, 1 B"], 0),
            ("application/json-seq", "\u{1e}{}\n\u{1e}1\n", ["value 1, 2 B", "value 2, 1 B"], 0),
            ("application/json", "[{\"a\":1}, 2,3]", ["value 1, 7 B", "value 2, 1 B", "value 3, 1 B"], 1),
            ("application/grpc-web", "\0\0\0\0\u{1}a\0\0\0\0\u{2}bc\0", ["message 1, 1 B", "message 2, 2 B"], 1),
            ("application/connect+proto", "\u{2}\0\0\0\u{2}{}", ["message 1, end, 2 B"], 0),
            ("application/grpc-web-text", "AAAAAAFhAAAAAAA=", ["message 1, 1 B", "message 2, 0 B"], 0),
            (
                "multipart/x-mixed-replace; boundary=b", "--b\r\nContent-Type: image/png\r\n\r\nxy\r\n--b\r\n\r\nz\r\n--b--",
                ["part 1, image/png, 2 B", "part 2, 1 B"], 2
            ),
        ] as [(String, String, [String], Int)])
    func otherStreamsHaveMessages(type: String, text: String, words: [String], rest: Int) throws {
        let bytes = Array(text.utf8)
        let arrival = Arrival(isChunked: true, pieces: [Arrival.Piece(at: 1, size: 1), Arrival.Piece(at: 9, size: bytes.count - 1)])
        let body = Body(size: bytes.count, content: .binary(bytes), arrival: arrival)
        let events = try #require(try self.events(body, ["Content-Type: \(type)"]))
        #expect(try self.words(events) == words.map { "\($0), 9.0 ms after the head" })
        #expect(events.count == words.count && events.rest == rest)
    }

    @Test func framesHaveTheirTypes() throws {
        let header = [11] + Array(":event-type".utf8) + [7, 0, 5] + Array("chunk".utf8)
        let bytes = AmazonFrame.encoded(headers: header, payload: Array("{}".utf8)) + AmazonFrame.encoded(headers: [], payload: [])
        let events = try self.events(Body(size: bytes.count, content: .binary(bytes)), ["Content-Type: application/vnd.amazon.eventstream"])
        #expect(try self.words(events) == ["frame 1, chunk, 2 B", "frame 2, 0 B"])
    }

    @Test func aValueThatCameAtOnceIsNoStream() throws {
        for type in ["application/json", "application/x-ndjson"] {
            #expect(try self.events(Body(size: 5, content: .text(Array("[1,2]".utf8))), ["Content-Type: \(type)"]) == nil)
        }
    }

    // MARK: Differences

    private func changes(_ old: [WebSocketMessage], _ new: [WebSocketMessage], all: Bool = false) throws -> [String] {
        try ExchangeComparison(old: self.folder.file("a.json"), new: self.folder.file("b.json"), showsAll: all)
            .changes(Self.talk(1, old), Self.talk(1, new)).map { "\($0.place): \($0.old ?? "-") \($0.new ?? "-")" }
    }

    @Test func messagesAreComparedSideBySide() throws {
        let old = [
            Self.text(1, .client, #"{"op":"add","id":1}"#), Self.text(2, .server, "a"), Self.text(3, .server, "b"),
            Self.close(4, .server, 1000),
        ]
        // Times, and the interleaving of the two sides, do not count.
        #expect(try self.changes(old, [Self.text(9, .server, "a"), old[0], old[2], old[3]]) == [])
        let new = [
            Self.text(1, .client, #"{"op":"add","id":2}"#), Self.text(2, .server, "a"), Self.text(2, .server, "new"),
            Self.text(3, .server, "b"), Self.close(4, .server, 1001, "away"),
        ]
        #expect(
            try self.changes(old, new) == [
                "websocket message 1 → json:/id: 1 2", "websocket message 3 ←: - \"new\"",
                "websocket close of the server: 1000 1001 \"away\"",
            ])
        #expect(try self.changes(new, old).contains("websocket message 3 ←: \"new\" -"))
        let binary = WebSocketMessage(at: 2, from: .server, content: .binary(.bytes(Array("a".utf8))))
        #expect(try self.changes([old[1]], [binary]) == ["websocket message 1 ← kind: text binary"])
    }

    // MARK: Problems

    private func problems(_ messages: [WebSocketMessage]) throws -> [String] {
        try? FileManager.default.removeItem(atPath: self.folder.file("a.json"))
        try self.folder.write([Self.talk(1, messages)], to: "a.json")
        var found: [String] = []
        try CassetteVerifier(path: self.folder.file("a.json")).run { found.append($0.text) }
        return found
    }

    @Test func membersOfAConversationAreChecked() throws {
        let file = try self.folder.sidecar(Array("0123".utf8), of: "a.json", ext: "txt")
        var framed = Self.text(3, .server, "abc")
        framed.frames = [1, 2]
        let sound = [
            Self.text(1, .client, "x"), WebSocketMessage(at: 2, from: .server, content: .text(.file(file))), framed,
        ]
        #expect(try self.problems(sound) == [])
        framed.frames = [1, 1]
        framed.at = 1
        #expect(
            try self.problems([sound[0], sound[1], framed]) == [
                "webSocket, message 3: its time is before that of message 2: write them in order of time",
                "webSocket, message 3: it has 3 bytes, but its frames have 2: record it again, or keep it if it was edited on purpose",
            ])
        try self.folder.folder.write([1], to: file.path)
        let damaged = try self.problems(sound)
        #expect(damaged.count == 1 && damaged[0].hasPrefix("webSocket, message 2: "), "\(damaged)")
    }

    // MARK: Filters

    @Test(arguments: [
        ("~websocket", true), ("~b hello", true), ("~bq hello", true), ("~bs hello", false), ("~bs answer", true), ("~b 1000", false),
        ("!~websocket", false),
    ])
    func filtersLookIntoMessages(filter: String, holds: Bool) throws {
        let talk = Self.talk(1, [Self.text(1, .client, "hello"), Self.text(2, .server, "answer"), Self.close(3, .server, 1000)])
        let reader = BodyReader(cassettePath: "/nowhere/pets.json")
        #expect(try ExchangeFilter(FilterParser.parse(filter), reader: reader).matches(talk) == holds)
    }

    // MARK: curl

    @Test(arguments: [("http://pets.test/talk", "ws://pets.test/talk"), ("https://pets.test/talk", "wss://pets.test/talk")])
    func curlOpensInHTTP1(url: String, socket: String) throws {
        var talk = Self.talk(1, [])
        talk.request = RecordedRequest(
            method: "GET", url: url, version: .http2, headers: HeaderFields(["sec-websocket-version: 13", "user-agent: x", "accept: */*"]))
        talk.request.connectProtocol = "websocket"
        let text = try CurlCommand(talk, number: 1, folder: "dir", reader: BodyReader(cassettePath: "/nowhere/pets.json")).text
        for option in ["-H 'Upgrade: websocket'", "-H 'Connection: Upgrade'", "-H 'Sec-WebSocket-Key: ", "-H 'sec-websocket-version: 13'"] {
            #expect(text.contains(option), "\(text)")
        }
        #expect(!text.contains("--http2") && text.contains("websocat '\(socket)'"), "\(text)")
    }
}
