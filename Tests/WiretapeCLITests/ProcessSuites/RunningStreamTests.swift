import Foundation
import Platform
import TapeTestSupport
import Testing

/// A recorder is inspected while it records a WebSocket and an event stream, and then killed.
@Suite struct RunningStreamTests {
    private static let script = Programs.fixture("running_streams.py")

    /// The output of `inspect` for both, as one text.
    private static func seen(_ cassette: String) throws -> String {
        let list = try Wiretape.run(["inspect", cassette])
        let chat = try Wiretape.run(["inspect", cassette, "2"])
        return list.outputText + chat.outputText
    }

    @Test func messagesBeforeAKillAreShownAndRecovered() throws {
        let folder = try TemporaryFolder()
        let cassette = folder.file("tape.json")
        let origin = try Python.origin("running_streams.py", ["serve"])
        defer { origin.program.stop() }
        let recorder = try Wiretape.listening(["record", cassette])
        defer { recorder.program.stop() }
        let client = try ExternalProgram(try Programs.find("python3"), [Self.script, "talk", "\(origin.port)", "\(recorder.port)"])
        defer { client.stop() }
        // While it runs: both streams, with all of their messages.
        let running = try Deadline.wait(for: "both to be seen") {
            let names = (try? folder.names(in: "tape.bodies")) ?? []
            guard names.count == 4 else { return String?.none }
            let text = try Self.seen(cassette)
            return text.contains("four") ? text : nil
        }
        #expect(running.contains("/events") && running.contains("/chat") && running.contains("three"), "\(running)")

        recorder.program.send(SIGKILL)
        #expect(try recorder.program.wait().status == 128 + SIGKILL)
        let left = try Self.seen(cassette)
        #expect(left.contains("/events") && left.contains("/chat") && left.contains("four"), "\(left)")

        let next = try Wiretape.run(["run", cassette, "--mode", "new-episodes", "--fail-on", "none", "--", "true"])
        #expect(next.status == 0, "\(next.errors)")
        #expect(try folder.names(in: "tape.bodies").allSatisfy { !$0.hasPrefix("open-") })
        try CassetteFile.expectValid(cassette)
        let exchanges = try CassetteFile.interactions(cassette)
        let chat = try #require(exchanges.first { $0["webSocket"] != nil }?["webSocket"] as? [[String: Any]])
        #expect(Set(chat.compactMap { $0["text"] as? String }) == ["one", "two", "three", "four"])
        let events = try #require(exchanges.first { $0["webSocket"] == nil })
        let body = try #require((events["response"] as? [String: Any])?["body"] as? [String: Any])
        // More than 64 KiB of them arrived at once.
        #expect(body["size"] as? Int ?? 0 > 100_000, "\(body)")
        #expect(CassetteFile.text("outcome.cut", of: events) == "recorder")
    }
}
