import CassetteTools
import Foundation
import Testing
@testable import WiretapeCLI
import TapeTestSupport

@Suite struct VerifyCommandTests {
    private let folder: TemporaryFolder
    private let cassette: String

    init() throws {
        self.folder = try TemporaryFolder()
        self.cassette = self.folder.file("pets.json")
        let origin = try DriftingOrigin(["large.bin": String(repeating: "0123456789abcdef\u{1}", count: 20_000), "a.json": #"{"a":1}"#])
        defer { origin.stop() }
        try origin.record(self.cassette, [[origin.url("large.bin")], [origin.url("a.json")]])
    }

    @Test func aSoundCassetteHasNoProblem() throws {
        let end = try Wiretape.run(["verify", self.cassette])
        #expect(end.status == 0 && end.errors.isEmpty, "\(end.errors)")
        #expect(end.outputText == "\"\(self.cassette)\": 2 exchanges, no problems.\n")
        #expect(try Wiretape.run(["verify", self.cassette, "--json"]).outputText == "[]\n")
    }

    @Test func eachProblemIsALineAndAnElement() throws {
        let name = try #require(try self.folder.names(in: "pets.bodies").first)
        try self.folder.write([1, 2, 3], to: "pets.bodies/\(name)")
        try self.folder.write([1], to: "pets.bodies/extra")
        let text = String(decoding: try self.folder.read("pets.json"), as: UTF8.self)
        try self.folder.write(
            text.replacingOccurrences(of: "{\"a\":1}", with: "{\"a\":10}").replacingOccurrences(of: "\"a\": 1", with: "\"a\": 10").utf8,
            to: "pets.json")
        let end = try Wiretape.run(["verify", self.cassette])
        #expect(end.status == 1)
        #expect(
            end.outputText.split(separator: "\n").map { String($0.prefix(26)) } == [
                "exchange 1, response body:", "exchange 2, response body:",
            ], "\(end.outputText)")
        #expect(end.errors.contains("pets.bodies/extra"))
        let list =
            try JSONSerialization.jsonObject(with: Data(try Wiretape.run(["verify", self.cassette, "--json"]).output)) as? [[String: Any]]
        #expect(list?.compactMap { $0["kind"] as? String } == ["damaged-body", "changed-body", "unused-file"])
        #expect(list?.compactMap { $0["problem"] as? Bool } == [true, true, false])

        let edited = try Wiretape.run(["verify", self.cassette, "--allow-edited"])
        #expect(edited.status == 1 && edited.outputText.split(separator: "\n").count == 1, "\(edited.outputText)")
    }

    @Test func anAnswerThatNoReplaySendsIsAProblem() throws {
        let text = String(decoding: try self.folder.read("pets.json"), as: UTF8.self)
        try self.folder.write(
            text.replacingOccurrences(of: "\"Content-Length: 7\"", with: "\"Content-Length: 7\", \"Content-Length: 8\"").utf8,
            to: "pets.json")
        let end = try Wiretape.run(["verify", self.cassette])
        #expect(end.status == 1 && end.outputText.hasPrefix("exchange 2: no replay can send its answer: "), "\(end.outputText)")
    }

    @Test func unreadableCassetteExitsWith2() throws {
        let end = try Wiretape.run(["verify", self.folder.file("none.json")])
        #expect(end.status == 2 && end.errors.contains("none.json"), "\(end.errors)")
        try self.folder.write("{}".utf8, to: "other.json")
        #expect(try Wiretape.run(["verify", self.folder.file("other.json")]).status == 2)
    }
}

@Suite struct FindingListTests {
    private func list(_ findings: [CareFinding], json: Bool = false, edited: Bool = false) throws -> (
        text: String, notes: [String], problems: Int
    ) {
        let sink = TextSink()
        var notes: [String] = []
        var list = FindingList(isJSON: json, allowsEdited: edited, write: { sink.write($0) }) { notes.append($0) }
        for finding in findings { try list.append(finding) }
        try list.finish(count: 3, of: "a.json")
        return (sink.text, notes, list.problems)
    }

    private let findings = [
        CareFinding(.damagedBody, exchange: 2, id: 5, message: "request", text: "bad\u{1b}"),
        CareFinding(.changedBody, exchange: 3, id: 6, message: "response", text: "other"),
        CareFinding(.unusedFile, file: "a.bodies/x", text: "unused"),
    ]

    @Test func problemsAreLinesAndTheRestIsNoted() throws {
        let (text, notes, problems) = try self.list(self.findings)
        #expect(text == "exchange 2, request body: bad\\u{1b}\nexchange 3, response body: other\n")
        #expect(notes == ["\"a.bodies/x\": unused"])
        #expect(problems == 2)
    }

    @Test func editedBodiesCanBeAllowed() throws {
        #expect(try self.list(self.findings, edited: true).problems == 1)
        #expect(try self.list([self.findings[1]], edited: true).text == "\"a.json\": 3 exchanges, no problems.\n")
    }

    @Test func jsonHasThemAll() throws {
        #expect(try self.list([], json: true).text == "[]\n")
        let (text, notes, problems) = try self.list([self.findings[0], self.findings[2]], json: true)
        #expect(
            text == """
                [
                  { "kind": "damaged-body", "problem": true, "exchange": 2, "id": 5, "message": "request", "text": "bad\\u001b" },
                  { "kind": "unused-file", "problem": false, "file": "a.bodies/x", "text": "unused" }
                ]

                """)
        #expect(notes == [] && problems == 1)
    }
}
