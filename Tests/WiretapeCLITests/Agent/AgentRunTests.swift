import Platform
import TapeTestSupport
import Testing
@testable import TapeBytes
@testable import WiretapeCLI

/// `wiretape mcp --live`: what an agent starts, stops and changes.
@Suite struct AgentRunTests {
    @Test func anAgentRecordsReplaysEditsAndSends() throws {
        let folder = try TemporaryFolder()
        let cassettes = folder.file("cassettes")
        try folder.write([], to: "cassettes/.keep")
        let end = try Python.run("mcp_live.py", [Programs.wiretape(), cassettes, folder.file("ca")])
        #expect(end.status == 0, "\(end.errors)")
        var lines = try end.outputText.split(separator: "\n").map { try JSONDocument(Array($0.utf8)).root }[...]
        func next() throws -> JSONValue {
            let line = lines.popFirst()
            return try #require(line, "\(end.outputText)\n\(end.errors)")
        }

        let recording = try next()
        #expect(recording["kind"]?.string == "recording" && recording["proxy"]?.string?.hasPrefix("http://127.0.0.1:") == true)
        #expect(recording["environment"]?["SSL_CERT_FILE"]?.string?.hasPrefix(folder.file("ca")) == true)
        #expect(try next()["answer"]?.string == #"{"count": 1, "path": "/one"}"#)
        #expect(try next()["reached"]?.int == 2)
        #expect(try next()["refused"]?.string == "a run is going on already: stop it first")
        let recorded = try next()
        #expect(recorded["recorded"]?.int == 2 && recorded["isWritten"]?.bool == true)
        #expect(try next()["refused"]?.string?.contains("\"replace\": true") == true)

        #expect(try next()["kind"]?.string == "replay")
        let first = try next()
        #expect(first["answer"]?.string == #"{"count": 1, "path": "/one"}"# && first["reached"]?.int == 2)
        let third = try next()
        #expect(third["answer"]?.string == "424" && third["reached"]?.int == 2)
        let status = try next()
        #expect(status["run"]?["answered"]?.int == 1 && status["run"]?["misses"]?.int == 1)
        let replayed = try next()
        let missed = replayed["missed"]?.elements.first { _ in true }
        #expect(replayed["unused"]?.int == 1 && missed?["reason"]?.string == "not-recorded")
        #expect(missed?["request"]?["untrusted"]?.string?.contains("/three") == true)

        let edited = try next()
        #expect(edited["untrusted"]?.string?.contains("response json:/count: 1 → {\"of\": [7]}") == true, "\(end.outputText)")
        #expect(try next()["refused"]?.string?.hasPrefix("nothing was written.") == true)
        let sent = try next()["answer"]
        #expect(sent?["status"]?.int == 200 && sent?["compared"]?["untrusted"]?.string?.contains("json:/count: 2 → 3") == true)
        #expect(try next()["refused"]?.string == "no run is going on")

        // The client leaves without a call of stop.
        _ = try (next(), next())
        #expect(try next()["ended"]?.int == 0)
        #expect(try CassetteFile.urls(cassettes + "/left.json").count == 1)
        try CassetteFile.expectValid(cassettes + "/new/pets.json")
        #expect(try Wiretape.run(["verify", cassettes + "/new/pets.json"]).status == 0)
    }

    @Test func aRecordingNeedsLive() throws {
        #expect(throws: (any Error).self) { try AgentCommand.parse(["--allow", "record"]) }
        #expect(throws: (any Error).self) { try AgentCommand.parse(["--allow", "rules,delete"]) }
        #expect(try AgentCommand.parse(["--live", "--allow", "record,rules", "--allow", "edit"]).allow == [[.record, .rules], [.edit]])
    }

    @Test(arguments: [
        "../a.json", "/a.json", "a", "a.txt", ".json", ".a.json", "a/../b.json", "a//b.json", "a.bodies/b.json", "a/b/c/d/e.json",
        "link/a.json", "file.json/a.json", "a\n.json",
    ]) func aRecordingStaysInTheFolder(_ name: String) throws {
        let folder = try TemporaryFolder()
        try folder.write([], to: "root/file.json")
        #expect(Platform.symlink("..", folder.file("root/link")) == 0)
        let files = try AgentFiles(folder.file("root"))
        #expect(throws: SettingSyntaxError.self) { try files.newPath(name, replaces: true) }
    }

    @Test func aCassetteIsReplacedOnlyIfThatIsAskedFor() throws {
        let folder = try TemporaryFolder()
        try folder.write([], to: "a.json")
        let files = try AgentFiles(folder.path)
        #expect(throws: SettingSyntaxError.self) { try files.newPath("a.json", replaces: false) }
        #expect(try files.newPath("a.json", replaces: true) == folder.file("a.json"))
        #expect(try files.newPath("b/c.json", replaces: false) == folder.file("b/c.json"))
        #expect(throws: SettingSyntaxError.self) { try AgentFiles(folder.file("a.json")).newPath("b.json", replaces: false) }
    }

    @Test(arguments: [
        (#"{"a": {"b": 1}}"#, "/a/b", #"{"a": {"b": [2]}}"#), (#"{"a": [1, 2 ]}"#, "/a/1", #"{"a": [1, [2] ]}"#),
        ("{\"a\": {\"b\": 1\n}}", "/a/c~1~0", "{\"a\": {\"b\": 1, \"c/~\": [2]\n}}"), (#"{"a": {}}"#, "/a/b", #"{"a": {"b": [2]}}"#),
    ]) func aValueIsReplacedOrAMemberAdded(_ text: String, _ pointer: String, _ new: String) throws {
        let replaced = try JSONPointer.replacing(Array("[2]".utf8), at: pointer, in: Array(text.utf8))
        #expect(String(decoding: replaced, as: UTF8.self) == new)
    }

    @Test(arguments: ["", "a", "/a/b/c", "/x/y", "/a/b/0"]) func anEditNeedsAPlace(_ pointer: String) {
        #expect(throws: SettingSyntaxError.self) {
            try JSONPointer.replacing(Array("1".utf8), at: pointer, in: Array(#"{"a": {"b": 1}}"#.utf8))
        }
    }

    @Test func annotationsAreTrue() throws {
        let folder = try TemporaryFolder()
        let runs = AgentRuns(
            .init(config: try ConfigOptions.parse([]), upstreamTLS: try UpstreamTLSOptions.parse([]), ports: ClosedPorts()))
        func tools(_ permissions: Set<AgentTools.Permission>, live: Bool) throws -> [String: JSONValue] {
            let tools = AgentTools(
                files: try AgentFiles(folder.path), permissions: permissions, untrusted: UntrustedText(nonce: "n"),
                runs: live ? runs : nil)
            return Dictionary(
                uniqueKeysWithValues: try JSONDocument(tools.list).root.elements.compactMap { tool in
                    tool["name"]?.string.flatMap { name in tool["annotations"].map { (name, $0) } }
                })
        }
        let reading = try tools([], live: false)
        #expect(reading.values.allSatisfy { $0["readOnlyHint"]?.bool == true && $0["openWorldHint"]?.bool == false })
        let all = try tools(Set(AgentTools.Permission.allCases), live: true)
        let more = Set(all.keys).subtracting(reading.keys)
        #expect(more == ["add_rules", "edit_exchange", "send", "start_recording", "start_replay", "stop"])
        #expect(more.allSatisfy { all[$0]?["readOnlyHint"]?.bool == false })
        #expect(more.filter { all[$0]?["destructiveHint"]?.bool == true }.sorted() == ["edit_exchange", "send", "start_recording"])
        #expect(more.filter { all[$0]?["openWorldHint"]?.bool == true }.sorted() == ["send", "start_recording"])
        #expect(Set(try tools([], live: true).keys).subtracting(reading.keys) == ["start_replay", "stop"])
        #expect(Set(try tools([.record], live: false).keys) == Set(reading.keys))
    }
}
