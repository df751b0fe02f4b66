import Foundation
import Platform
import TapeTestSupport
import Testing

/// WebSocket conversations between programs with the websockets library: recorded, and replayed without the server.
@Suite(.enabled("websockets is not there, and PyPI cannot be reached") { PythonPackages.python != nil })
struct WebSocketTests {
    private static let script = Programs.fixture("websocket_talk.py")

    private func client(_ port: Int, _ word: String = "subscribe") throws -> [String] {
        [try #require(PythonPackages.python), Self.script, "talk", "\(port)", word]
    }

    private func record(_ cassette: String) throws -> (port: Int, heard: String) {
        let server = try ExternalProgram(try #require(PythonPackages.python), [Self.script, "serve"])
        defer { server.stop() }
        let port = try server.port()
        let command = try self.client(port)
        let direct = try ExternalProgram.run(command[0], Array(command.dropFirst()))
        #expect(direct.outputText.contains("tick") && direct.outputText.contains("4001"), "\(direct.outputText)\(direct.errors)")
        let recorded = try Wiretape.run(["record", cassette, "--"] + command)
        #expect(recorded.status == 0 && recorded.outputText == direct.outputText, "\(recorded.outputText)\(recorded.errors)")
        return (port, direct.outputText)
    }

    @Test func conversationIsRecordedAndReplayedWithoutTheServer() throws {
        let folder = try TemporaryFolder()
        let cassette = folder.file("talk.json")
        let (port, heard) = try self.record(cassette)
        let interaction = try #require(try CassetteFile.interactions(cassette).first)
        let messages = try #require(interaction["webSocket"] as? [[String: Any]])
        #expect(messages.map { $0["from"] as? String ?? "" }.prefix(6) == ["server", "client", "server", "server", "server", "server"])
        #expect(messages.contains { $0["file"] != nil } && messages.contains { $0["ping"] != nil })
        let close = try #require(messages.last { $0["from"] as? String == "server" }?["close"] as? [String: Any])
        #expect(close["code"] as? Int == 4001 && close["reason"] as? String == "bye then")
        let text = String(decoding: try folder.read("talk.json"), as: UTF8.self)
        #expect(!text.contains("hunter2") && !text.contains("secret-of-the-test") && text.contains("{{password:1}}"), "\(text)")
        try CassetteFile.expectValid(cassette)
        let replayed = try Wiretape.run(["replay", cassette, "--fail-on", "miss,unused", "--"] + self.client(port))
        #expect(replayed.status == 0 && replayed.outputText == heard, "\(replayed.outputText)\(replayed.errors)")
    }

    @Test func anotherMessageIsAMissWithTheDifferences() throws {
        let folder = try TemporaryFolder()
        let cassette = folder.file("talk.json")
        let (port, _) = try self.record(cassette)
        let other = try Wiretape.run(["replay", cassette, "--"] + self.client(port, "unsubscribe"))
        #expect(other.status == 3, "\(other.outputText)\(other.errors)")
        #expect(other.outputText.contains("1008") && other.outputText.contains("not in the cassette"), "\(other.outputText)")
        #expect(other.errors.contains("message 1: JSON \"/op\" is \"unsubscribe\""), "\(other.errors)")
        let ignored = try Wiretape.run(["replay", cassette, "--ignore", "json:/op", "--"] + self.client(port, "unsubscribe"))
        #expect(ignored.status == 0, "\(ignored.outputText)\(ignored.errors)")
    }

    @Test func aClientWithNewIdsRecognizesItsAnswers() throws {
        let folder = try TemporaryFolder()
        let cassette = folder.file("calls.json")
        let python = try #require(PythonPackages.python)
        let server = try ExternalProgram(python, [Self.script, "serve"])
        defer { server.stop() }
        let command = [python, Self.script, "call", "\(try server.port())"]
        let recorded = try Wiretape.run(["record", cassette, "--"] + command)
        #expect(recorded.status == 0 && recorded.outputText.contains("own ['dogs', 1]"), "\(recorded.outputText)\(recorded.errors)")
        server.stop()
        for rule in [["--ignore", "json:/id"], ["--pattern", "json:/id=[0-9a-f-]{36}"]] {
            let replayed = try Wiretape.run(["replay", cassette, "--fail-on", "miss,unused"] + rule + ["--"] + command)
            #expect(replayed.status == 0 && replayed.outputText == recorded.outputText, "\(replayed.outputText)\(replayed.errors)")
        }
    }

    // MARK: aiohttp and a browser

    private static let live = Programs.fixture("live_origin.py")
    private static let chromium = ["chromium", "chromium-browser", "google-chrome"].first(where: Programs.isInstalled)

    /// Records a client of the origin, and replays it without the origin: its output has to be the same, and every recorded message has to
    /// be sent.
    private func expectSame(_ arguments: (_ port: Int) throws -> [String], prints lines: String...) throws {
        let folder = try TemporaryFolder()
        let cassette = folder.file("live.json")
        let python = try #require(PythonPackages.python)
        let server = try ExternalProgram(python, [Self.live, "serve"])
        defer { server.stop() }
        let command = [python, Self.live] + (try arguments(try server.port()))
        let recorded = try Wiretape.run(["record", cassette, "--"] + command)
        #expect(recorded.status == 0, "\(recorded.errors)")
        for line in lines { #expect(recorded.outputText.contains(line), "\(recorded.outputText)") }
        try CassetteFile.expectValid(cassette)
        server.stop()
        let replayed = try Wiretape.run(["replay", cassette, "--fail-on", "miss", "--"] + command)
        #expect(replayed.status == 0 && replayed.outputText == recorded.outputText, "\(replayed.outputText)\(replayed.errors)")
        #expect(!replayed.errors.contains("not sent"), "\(replayed.errors)")
    }

    @Test func messagesToAiohttpAreReplayed() throws {
        try self.expectSame(
            { ["talk", "\($0)"] }, prints: "open chat 15", "text 150000 LONG", "CLOSE 4002 so long", "after 0", "id: 4", "after 2")
    }

    @Test(.enabled("Chromium is not installed") { Self.chromium != nil }) func messagesToABrowserAreReplayed() throws {
        let chromium = try Programs.find(try #require(Self.chromium))
        try self.expectSame(
            { ["browse", chromium, "\($0)"] }, prints: "event 2 after 0", "event 4 after 2", "open chat permessage-deflate",
            "text 150000 LONG", "closed 4002 so long true")
    }

    /// haproxy answers its client's Upgrade itself, and opens the WebSocket over HTTP/2 (RFC 8441).
    @Test(.enabled("haproxy is not there") { Programs.isInstalled("haproxy") }) func haproxyAsksInHTTP2() throws {
        let server = try ExternalProgram(try #require(PythonPackages.python), [Self.script, "serve"])
        defer { server.stop() }
        let port = try server.port()
        let command = try self.client(port)
        let direct = try ExternalProgram.run(command[0], Array(command.dropFirst()))
        let folder = try TemporaryFolder()
        let cassette = folder.file("talk.json")
        let recorder = try Wiretape.listening(["record", cassette])
        defer { recorder.program.stop() }
        let (proxy, front) = try HTTP2Origin.listening("haproxy") {
            try HTTP2Origin.haproxy(
                folder, bind: "127.0.0.1:\($0)", server: "127.0.0.1:\(recorder.port) proto h2",
                rules: "http-request set-path /http://127.0.0.1:\(port)%[path]")
        }
        defer { proxy.stop() }
        let asked = try self.client(front)
        let heard = try ExternalProgram.run(asked[0], Array(asked.dropFirst()))
        #expect(heard.status == 0 && heard.outputText == direct.outputText, "\(heard.outputText)\(heard.errors)")
        recorder.program.send(SIGTERM)
        #expect(try recorder.program.wait().status == 0)
        let interaction = try #require(try CassetteFile.interactions(cassette).first { $0["webSocket"] != nil })
        #expect(CassetteFile.text("request.protocol", of: interaction) == "websocket")
        #expect(CassetteFile.text("request.version", of: interaction) == "HTTP/2.0")
        #expect((interaction["webSocket"] as? [Any])?.count ?? 0 > 15)
        try CassetteFile.expectValid(cassette)
    }
}
