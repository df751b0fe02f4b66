import CassetteModel
import Foundation
import TapeBytes
import TapeExchange
import Testing
@testable import Wiretape

/// The client's end of a WebSocket over scripted bytes.
@Suite struct WireSocketTests {
    /// A server that answers the opening request with a head, and has already sent the following bytes.
    private final class Script: ByteStream {
        private struct State: Sendable {
            var written: [UInt8] = []
            var pieces: [[UInt8]] = []
            var isAnswered = false
            var isClosed = false
        }

        private let state = Guarded(State())
        private let pieceSize: Int
        private let answer: @Sendable (_ request: String) -> [UInt8]

        init(pieceSize: Int = .max, answer: @escaping @Sendable (_ request: String) -> [UInt8]) {
            (self.pieceSize, self.answer) = (pieceSize, answer)
        }

        var written: [UInt8] { self.state.withLock { $0.written } }
        var request: String { String(decoding: self.written, as: UTF8.self).components(separatedBy: "\r\n\r\n")[0] }
        /// The bytes after the opening request.
        var sent: [UInt8] { Array(self.written.dropFirst(self.request.utf8.count + 4)) }
        var isClosed: Bool { self.state.withLock { $0.isClosed } }

        func read() async throws -> [UInt8]? {
            self.state.withLock { state in
                if !state.isAnswered {
                    state.isAnswered = true
                    let bytes = self.answer(String(decoding: state.written, as: UTF8.self))
                    state.pieces = stride(from: 0, to: bytes.count, by: min(self.pieceSize, max(bytes.count, 1))).map {
                        Array(bytes[$0..<min($0 + min(self.pieceSize, bytes.count), bytes.count)])
                    }
                }
                return state.pieces.isEmpty ? nil : state.pieces.removeFirst()
            }
        }

        func write(_ bytes: [UInt8]) async throws { self.state.withLock { $0.written += bytes } }
        func close() async { self.state.withLock { $0.isClosed = true } }
        func cancel() { self.state.withLock { $0.isClosed = true } }
    }

    private static func accept(_ request: String) -> String {
        let key = request.components(separatedBy: "\r\n").first { $0.hasPrefix("Sec-WebSocket-Key: ") }?.dropFirst(19)
        return WebSocketHandshake.accept(for: key.map(String.init) ?? "")
    }

    private static func opened(_ request: String, _ lines: String..., then bytes: [UInt8] = []) -> [UInt8] {
        let head = [
            "HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Accept: \(self.accept(request))",
        ]
        return Array(((head + lines).map { "\($0)\r\n" }.joined() + "\r\n").utf8) + bytes
    }

    private static func frame(_ opcode: UInt8, _ text: String) -> [UInt8] { [0x80 | opcode, UInt8(text.utf8.count)] + Array(text.utf8) }

    private func open(_ script: Script, protocols: [String] = []) async throws -> WireSocket {
        let url = try #require(URL(string: "http://pets.test:8080/talk?a=b"))
        var request = TransportRequest(method: "GET", url: url)
        request.headers = ["X-A": "1", "Connection": "close"]
        return try await WireSocket.open(request, protocols: protocols, over: script)
    }

    /// All received events, to the end.
    private func events(_ socket: WireSocket) async -> [String] {
        var events: [String] = []
        while true {
            do {
                switch try await socket.receive() {
                case .message(.text(let text)): events.append("text \(text)")
                case .message(.data(let data)): events.append("data \(data.count)")
                case .closed(let closing):
                    events.append("closed \(closing.code?.rawValue ?? 0) \(closing.reason)")
                    return events
                }
            } catch {
                return events + [(error as? TransportFailure)?.message ?? "\(error)"]
            }
        }
    }

    @Test func theOpeningRequestIsThatOfTheProtocol() async throws {
        let script = Script { Self.opened($0, "Sec-WebSocket-Protocol: chat") }
        let socket = try await self.open(script, protocols: ["other", "chat"])
        let lines = script.request.components(separatedBy: "\r\n").filter { !$0.hasPrefix("Sec-WebSocket-Key: ") }
        #expect(
            lines == [
                "GET /talk?a=b HTTP/1.1", "Host: pets.test:8080", "X-A: 1", "Upgrade: websocket", "Connection: Upgrade",
                "Sec-WebSocket-Version: 13", "Sec-WebSocket-Extensions: permessage-deflate", "Sec-WebSocket-Protocol: other, chat",
            ])
        #expect(socket.response.status == 101 && socket.response.headers.value(for: "Sec-WebSocket-Protocol") == "chat")
    }

    @Test(arguments: [
        (["Sec-WebSocket-Protocol: mine"], "the server has chosen the subprotocol \"mine\", which was not offered"),
        (["Sec-WebSocket-Extensions: x-mine"], "the server uses the extension \"x-mine\", which was not offered"),
    ])
    func anAnswerThatIsNoAgreementOpensNothing(lines: [String], problem: String) async throws {
        let script = Script { request in
            Self.opened(request).dropLast(2) + Array((lines.map { "\($0)\r\n" }.joined() + "\r\n").utf8)
        }
        let failure = await #expect(throws: TransportFailure.self) { _ = try await self.open(script) }
        #expect(failure?.message == "the WebSocket to \"pets.test\" failed: \(problem)")
        #expect(script.isClosed)
    }

    @Test(arguments: [
        (
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n",
            "the response has not the Sec-WebSocket-Accept of this request"
        ),
        ("HTTP/1.1 101 Switching Protocols\r\n\r\n", "the response does not upgrade to a WebSocket"),
        ("nonsense\r\n\r\n", "the response is not valid HTTP"), ("", "the connection was closed before a response came"),
    ])
    func invalidAnswerOpensNoSocket(answer: String, problem: String) async throws {
        let script = Script { _ in Array(answer.utf8) }
        let failure = await #expect(throws: TransportFailure.self) { _ = try await self.open(script) }
        #expect(failure?.message.contains(problem) == true, "\(failure?.message ?? "none")")
        #expect(script.isClosed)
    }

    @Test func aRefusalHasItsAnswer() async throws {
        let script = Script { _ in Array("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 401 No\r\nContent-Length: 5\r\n\r\nlogin".utf8) }
        let refusal = await #expect(throws: HTTPSession.WebSocket.Refusal.self) { _ = try await self.open(script) }
        #expect(refusal?.response.status == 401 && refusal?.body == Data("login".utf8) && script.isClosed)
    }

    /// The network may cut the server's bytes anywhere.
    @Test(arguments: [1, 2, 3, 7, .max]) func messagesArriveAndPingsAreAnswered(pieceSize: Int) async throws {
        let frames: [[UInt8]] = [
            Self.frame(1, "hello"), Self.frame(9, "are you there"), Self.frame(2, "\u{0}\u{1}"), [0x01, 3] + Array("hel".utf8),
            Self.frame(10, ""),
            [0x80, 2] + Array("lo".utf8), [0x88, 5, 0x03, 0xe9] + Array("bye".utf8),
        ]
        let script = Script(pieceSize: pieceSize) { Self.opened($0, then: Array(frames.joined())) }
        let socket = try await self.open(script)
        #expect(await self.events(socket) == ["text hello", "data 2", "text hello", "closed 1001 bye"])
        #expect(script.isClosed)
        var reader = WebSocketReader(.client, stand: .server)
        var answered: [WebSocketEvent] = []
        script.sent.withUnsafeBytes { reader.read($0) { answered.append($0) } }
        let kinds = answered.compactMap {
            if case .message(let message) = $0 { "\(message.kind) \(String(decoding: message.bytes, as: UTF8.self))" } else { nil }
        }
        #expect(kinds == ["pong are you there", "close \u{3}\u{fffd}"])
    }

    @Test func sentMessagesAreMasked() async throws {
        let script = Script { Self.opened($0) }
        let socket = try await self.open(script)
        try await socket.send(.text("hello"))
        try await socket.send(.data(Data([1, 2, 3])))
        await socket.close(HTTPSession.WebSocket.Closing(code: .normal, reason: "done"))
        let sent = script.sent
        #expect(sent.first == 0x81 && sent[1] & 0x80 != 0, "RFC 6455, 5.1")
        var reader = WebSocketReader(.client, stand: .server)
        var messages: [TapedMessage] = []
        sent.withUnsafeBytes { reader.read($0) { if case .message(let message) = $0 { messages.append(message) } } }
        #expect(messages.map(\.kind) == [.text, .binary, .close])
        await #expect(throws: TransportFailure.self) { try await socket.send(.text("more")) }
    }

    @Test(arguments: [
        ([0x81, 2, 0xff, 0xfe] as [UInt8], "is not UTF-8"), ([0x83, 0], "breaks the rules of WebSockets"),
        ([0x81, 5, 104], "without a close frame"),
        ([], "without a close frame"),
    ])
    func invalidFrameFailsAfterTheEarlierMessages(bytes: [UInt8], problem: String) async throws {
        let script = Script { Self.opened($0, then: Self.frame(1, "first") + bytes) }
        let events = await self.events(try await self.open(script))
        #expect(events.first == "text first" && events.last?.contains(problem) == true, "\(events)")
    }
}
