import TapeTestSupport
import Testing
@testable import Wiretape

/// Messages of Socket.IO: a packet number, a namespace, an acknowledgement number, and JSON.
@Suite struct SocketIOTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    /// The message that a client receives after it sends one text where another was recorded, or the report if it receives nothing.
    private func answer(to said: String, recorded: String, ignoring: [String] = []) async throws -> String {
        var settings = Cassette.Settings()
        settings.ignore = ignoring
        let text = recorded.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        let talk = SocketFixture.socket(
            "{ \"at\": 1, \"from\": \"client\", \"text\": \"\(text)\" }", #"{ "at": 2, "from": "server", "text": "ok" }"#)
        let cassette = try SocketFixture.cassette([talk], in: self.folder, settings: settings)
        let socket = try await HTTPSession.patient(cassette).webSocket(SocketFixture.url)
        do {
            try await socket.send(said)
            return try await socket.receive()?.text ?? "closed"
        } catch {
            return error.message
        }
    }

    @Test(arguments: [
        (#"42["add",{"id":1,"at":"now"}]"#, #"42["add", {"at": "now", "id": 1}]"#), (#"2"#, #"2"#), (#"40{}"#, #"40{ }"#),
        (#"42/pets,7["a"]"#, #"42/pets,7[ "a" ]"#), (#"451-/a[x],["a",{"num":0}]"#, #"451-/a[x],["a",{ "num":0}]"#),
    ])
    func valuesAreCompared(recorded: String, said: String) async throws {
        #expect(try await self.answer(to: said, recorded: recorded) == "ok")
    }

    @Test func idsAreLeftOutByRule() async throws {
        let (recorded, said) = (#"42["add",{"id":"5ec7","name":"Rex"}]"#, #"42["add",{"id":"77aa","name":"Rex"}]"#)
        #expect(try await self.answer(to: said, recorded: recorded, ignoring: ["json:/1/id"]) == "ok")
        #expect(try await self.answer(to: said, recorded: recorded).contains(#"JSON "/1/id" is "77aa", recorded is "5ec7""#))
    }

    @Test(arguments: [
        (#"42["a"]"#, #"43["a"]"#), (#"42/a,["a"]"#, #"42/b,["a"]"#), (#"421["a"]"#, #"422["a"]"#), (#"42["a"]"#, #"["a"]"#), ("2", "3"),
        ("12[not JSON", "12[no JSON"), ("12[not JSON", "13[not JSON"),
    ])
    func prefixBeforeTheValuesCounts(recorded: String, said: String) async throws {
        #expect(try await self.answer(to: said, recorded: recorded) != "ok")
        #expect(try await self.answer(to: recorded, recorded: recorded) == "ok")
    }

    @Test func secretsInPacketsMatchTheirPlaceholders() async throws {
        let path = self.folder.file("login.json")
        let server = StubResponse.webSocket { socket in
            _ = try await socket.receive()
            try await socket.send("welcome")
        }
        func use(_ session: HTTPSession) async throws {
            let socket = try await session.webSocket(SocketFixture.url)
            try await socket.send(#"42["login",{"user":"rex","password":"hunter2-of-the-test"}]"#)
            #expect(try await socket.receive() == .text("welcome"))
            await socket.close()
        }
        let recording = try Cassette(path, mode: .once)
        try await use(HTTPSession(transport: RecordingTransport(recording, around: StubTransport { _ in server })))
        _ = try recording.close()
        #expect(!String(decoding: try self.folder.read("login.json"), as: UTF8.self).contains("hunter2"))
        let cassette = try Cassette(path)
        try await use(HTTPSession.patient(cassette))
        #expect(cassette.verdict.misses == 0)
    }
}
