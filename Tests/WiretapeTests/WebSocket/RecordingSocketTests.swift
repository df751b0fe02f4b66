import CassetteFormat
import CassetteModel
import CassetteStore
import CassettePlayback
import Foundation
import TapeBytes
import TapeTestSupport
import Testing
@testable import Wiretape

@Suite struct RecordingSocketTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    /// Records the sockets of a stub, and returns the exchanges in the file.
    private func recorded(
        _ responses: [StubResponse], settings: Cassette.Settings = Cassette.Settings(),
        _ use: (HTTPSession, Cassette) async throws -> Void
    ) async throws -> [Interaction] {
        let path = self.folder.file("a.json")
        let cassette = try Cassette(path, mode: .once, settings: settings)
        try await use(HTTPSession(transport: RecordingTransport(cassette, around: StubTransport(responses))), cassette)
        _ = try cassette.close()
        let file = try RecordedCassette(path: path)
        return try (0..<file.count).map { try file.interaction(at: $0) }
    }

    private func messages(_ interaction: Interaction?) throws -> [String] {
        var lines: [String] = []
        let messages = try #require(interaction?.webSocket)
        try BodyReader(cassettePath: self.folder.file("a.json")).forEachMessage(of: messages, digest: PortableSHA256()) { message, _ in
            let said =
                switch message.content {
                case .text(let payload): "text \(String(decoding: payload.inlineBytes ?? [], as: UTF8.self))"
                case .binary(let payload): "binary of \(payload.size)"
                case .close(let close): "close \(close.code ?? 0) \(String(decoding: close.reason, as: UTF8.self))"
                case .ping, .pong: "control"
                }
            lines.append("\(message.from) \(said)")
            return true
        }
        return lines
    }

    @Test func recordedConversationIsReplayed() async throws {
        let server = StubResponse.webSocket(protocol: "v2") { socket in
            try await socket.send("hello")
            _ = try await socket.receive()
            try await socket.send(Data([0, 1, 2]))
            socket.close(code: .goingAway, reason: "restart")
        }
        let url = "\(SocketFixture.url)?room=1"
        func use(_ session: HTTPSession) async throws -> [String] {
            let socket = try await session.webSocket(url, protocols: ["v2"])
            #expect(socket.negotiatedProtocol == "v2")
            #expect(try await socket.receive() == .text("hello"))
            try await socket.send(#"{"op": "subscribe"}"#)
            return try await socket.rest()
        }
        var lines: [String] = []
        let exchanges = try await self.recorded([server]) { session, _ in lines = try await use(session) }
        #expect(lines == ["3 bytes", "close 1001"])
        #expect(exchanges.count == 1)
        let exchange = try #require(exchanges.first)
        #expect(exchange.request.method == "GET" && exchange.request.url == "https://pets.test/talk?room=1")
        let fields = exchange.request.headers
        #expect(fields.values("upgrade") == ["websocket"] && fields.values("sec-websocket-version") == ["13"])
        #expect(fields.values("sec-websocket-protocol") == ["v2"])
        #expect(exchange.response?.status == 101 && exchange.outcome == .complete)
        #expect(
            try self.messages(exchange) == [
                "server text hello", #"client text {"op": "subscribe"}"#, "server binary of 3", "server close 1001 restart",
            ])
        let cassette = try Cassette(self.folder.file("a.json"))
        #expect(try await use(HTTPSession.patient(cassette)) == ["3 bytes", "close 1001"])
        #expect(cassette.verdict.misses == 0 && cassette.verdict.unused.isEmpty)
    }

    @Test func aMessageThatIsNotSentEndsNoRecording() async throws {
        let code = try #require(HTTPSession.WebSocket.CloseCode(rawValue: 4001))
        let server = StubResponse.webSocket { socket in
            try await socket.send("last")
            socket.close(code: code)
        }
        let exchanges = try await self.recorded([server]) { session, _ in
            let socket = try await session.webSocket(SocketFixture.url)
            while await socketError({ try await socket.send("more") }) == nil {}
            #expect(try await socket.rest() == ["last", "close 4001"])
        }
        #expect(exchanges.first?.outcome == .complete)
        #expect(try self.messages(exchanges.first).suffix(2) == ["server text last", "server close 4001 "])
    }

    @Test func secretsOfMessagesAreRedactedAndStillMatch() async throws {
        let server = StubResponse.webSocket { socket in
            _ = try await socket.receive()
            try await socket.send("welcome")
        }
        func use(_ session: HTTPSession) async throws {
            let socket = try await session.webSocket(SocketFixture.url)
            try await socket.send(#"{"password": "hunter2-hunter2", "user": "miso"}"#)
            #expect(try await socket.receive() == .text("welcome"))
            await socket.close()
        }
        let exchanges = try await self.recorded([server]) { session, _ in try await use(session) }
        let lines = try self.messages(exchanges.first)
        #expect(lines.first?.contains("hunter2") == false && lines.first?.contains("miso") == true)
        let cassette = try Cassette(self.folder.file("a.json"))
        try await use(HTTPSession.patient(cassette))
        #expect(cassette.verdict.misses == 0)
    }

    @Test(arguments: [10_000, 100_000, 300_000]) func longMessagesAreInFiles(size: Int) async throws {
        let data = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
        let server = StubResponse.webSocket { socket in
            guard let message = try await socket.receive() else { return }
            try await socket.send(message.data)
        }
        func use(_ session: HTTPSession) async throws {
            let socket = try await session.webSocket(SocketFixture.url)
            try await socket.send(data)
            #expect(try await socket.receive() == .data(data))
            #expect(try await socket.receive() == nil)
        }
        let exchanges = try await self.recorded([server]) { session, _ in try await use(session) }
        #expect(
            try self.messages(exchanges.first) == [
                "client binary of \(size)", "server binary of \(size)", "server close 1000 ",
            ])
        try await use(HTTPSession.patient(try Cassette(self.folder.file("a.json"))))
    }

    @Test func aLongConversationIsReadFromItsFile() async throws {
        let count = 3000
        let text = String(repeating: "x", count: 500)
        let server = StubResponse.webSocket { socket in
            for number in 0..<count { try await socket.send("\(number) \(text)") }
        }
        func use(_ session: HTTPSession) async throws {
            let lines = try await session.webSocket(SocketFixture.url).rest()
            #expect(lines.count == count + 1)
            #expect(lines.dropLast() == (0..<count).map { "\($0) \(text)" }[...])
        }
        let exchanges = try await self.recorded([server]) { session, _ in try await use(session) }
        guard case .file? = exchanges.first?.webSocket else {
            Issue.record("the messages are in the cassette itself")
            return
        }
        try await use(HTTPSession.patient(try Cassette(self.folder.file("a.json"))))
    }

    @Test func aClientThatLeavesIsRecordedSo() async throws {
        let server = StubResponse.webSocket { socket in
            try await socket.send("a")
            _ = try await socket.receive()
        }
        let exchanges = try await self.recorded([server]) { session, _ in
            let socket = try await session.webSocket(SocketFixture.url)
            #expect(try await socket.receive() == .text("a"))
            socket.cancel()
        }
        guard case .cut(let cut)? = exchanges.first?.outcome else {
            Issue.record("\(String(describing: exchanges.first?.outcome))")
            return
        }
        #expect(cut.by == .client)
        #expect(try self.messages(exchanges.first) == ["server text a"])
    }

    @Test func aServerThatBreaksOffIsRecordedSo() async throws {
        let server = StubResponse.webSocket { _ in throw TransportFailure(.network(.reset), "gone") }
        let exchanges = try await self.recorded([server]) { session, _ in
            let socket = try await session.webSocket(SocketFixture.url)
            #expect(await socketError { _ = try await socket.receive() }?.networkFailure == .reset)
        }
        #expect(exchanges.first?.outcome == .cut(Cut(by: .origin, kind: .reset, reason: "gone")))
    }

    @Test func aSocketThatIsOpenWhenTheCassetteClosesIsCut() async throws {
        let server = StubResponse.webSocket { socket in
            try await socket.send("a")
            _ = try await socket.receive()
        }
        var kept: HTTPSession.WebSocket?
        let exchanges = try await self.recorded([server]) { session, _ in
            kept = try await session.webSocket(SocketFixture.url)
            #expect(try await kept?.receive() == .text("a"))
        }
        guard case .cut(let cut)? = exchanges.first?.outcome else {
            Issue.record("\(String(describing: exchanges.first?.outcome))")
            return
        }
        #expect(cut.by == .recorder)
        kept?.cancel()
    }

    @Test func aRefusedOpeningIsAnExchange() async throws {
        let exchanges = try await self.recorded([.text("no", status: 403)]) { session, _ in
            #expect(await socketError { _ = try await session.webSocket(SocketFixture.url) }?.code == .validation)
        }
        #expect(exchanges.first?.response?.status == 403 && exchanges.first?.webSocket == nil)
        #expect(exchanges.first?.response?.body?.content == .text(Array("no".utf8)))
        let session = HTTPSession.patient(try Cassette(self.folder.file("a.json")))
        #expect((await socketError { _ = try await session.webSocket(SocketFixture.url) }?.cause as? ValidationError)?.status == 403)
    }

    @Test func anOpeningThatFailsIsAnExchange() async throws {
        let exchanges = try await self.recorded([.failure(.refused)]) { session, _ in
            #expect(await socketError { _ = try await session.webSocket(SocketFixture.url) }?.networkFailure == .refused)
        }
        guard case .failed(let failure)? = exchanges.first?.outcome else {
            Issue.record("\(String(describing: exchanges.first?.outcome))")
            return
        }
        #expect(failure.kind == .refused)
    }
}
