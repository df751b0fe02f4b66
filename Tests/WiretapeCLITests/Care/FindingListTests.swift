import CassetteTools
import Testing

@testable import WiretapeCLI

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
