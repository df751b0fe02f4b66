import CassetteTools
import Foundation
import TapeBytes
import Testing
@testable import WiretapeCLI
import TapeTestSupport

@Suite struct DiffCommandTests {
    private let folder: TemporaryFolder
    private let old: String
    private let new: String

    init() throws {
        self.folder = try TemporaryFolder()
        (self.old, self.new) = (self.folder.file("old.json"), self.folder.file("new.json"))
        let origin = try DriftingOrigin(["a.json": #"{"a":1}"#, "b.json": "{}"])
        defer { origin.stop() }
        try origin.record(self.old, [[origin.url("a.json")], [origin.url("b.json?x=1&token=one-secret")]])
        try origin.set("a.json", #"{"a":2}"#)
        try origin.record(
            self.new,
            [[origin.url("b.json?x=2&token=two-secret")], [origin.url("a.json")], ["-H", "Cookie: a=third-secret", origin.url("none")]])
    }

    @Test func twoRecordingsOfTheSameAreEqual() throws {
        let end = try Wiretape.run(["diff", self.old, self.old])
        #expect(end.status == 0 && end.outputText == "2 the same, 0 changed, 0 added, 0 removed.\n", "\(end.outputText)")
    }

    @Test func changesAreNamedAndSecretsAreNot() throws {
        let end = try Wiretape.run(["diff", self.old, self.new])
        #expect(end.status == 1)
        let lines = end.outputText.split(separator: "\n").map(String.init)
        #expect(lines.contains("    response json:/a: 1 → 2") && lines.contains("    request query:x: 1 → 2"), "\(lines)")
        #expect(
            lines.contains { $0.hasPrefix("+ 3 GET ") }
                && lines.last?.hasPrefix("0 the same, 2 changed, 1 added, 0 removed. Differences: ") == true, "\(lines)")
        #expect(!end.outputText.contains("secret"))
        let all = try Wiretape.run(["diff", self.old, self.new, "--all", "--json"])
        #expect(all.status == 1 && !all.outputText.contains("secret"))
        let list = try #require(try JSONSerialization.jsonObject(with: Data(all.output)) as? [[String: Any]])
        #expect(list.compactMap { $0["kind"] as? String } == ["changed", "changed", "added"])
        let places = (list[0]["changes"] as? [[String: Any]])?.compactMap { $0["place"] as? String } ?? []
        #expect(places.contains("started") && places.contains("request query:token"), "\(places)")
    }

    @Test func theSeverityDecidesTheExitCode() throws {
        let origin = try DriftingOrigin(["a.json": #"{"a":1}"#])
        defer { origin.stop() }
        let (before, after) = (self.folder.file("before.json"), self.folder.file("after.json"))
        try origin.record(before, [[origin.url("a.json")]])
        try origin.set("a.json", #"{"a":2,"b":1}"#)
        try origin.record(after, [[origin.url("a.json")]])
        for (severity, status) in [("value", 1), ("added", 1), ("type", 0), ("removed", 0)] {
            let end = try Wiretape.run(["diff", before, after, "--severity", severity])
            #expect(end.status == status && end.outputText.contains("response json:/b: 1 is new"), "\(severity): \(end.outputText)")
        }
        let wrong = try Wiretape.run(["diff", before, after, "--severity", "high"])
        #expect(wrong.status != 0 && wrong.errors.contains("removed"), "\(wrong.errors)")
    }

    @Test func unreadableCassetteExitsWith2() throws {
        let end = try Wiretape.run(["diff", self.old, self.folder.file("none.json")])
        #expect(end.status == 2 && end.errors.contains("none.json"), "\(end.errors)")
    }
}

@Suite struct DiffPageTests {
    private let exchange = CassetteDiff.Exchange(number: 2, .sample(5, "GET", "http://a/\u{1b}"))
    private let other = CassetteDiff.Exchange(number: 3, .sample(6))

    private func page(_ entries: [CassetteDiff.Entry], json: Bool = false) throws -> (text: String, differs: Bool) {
        let sink = TextSink()
        var page = DiffPage(isJSON: json) { sink.write($0) }
        for entry in entries { try page.append(entry) }
        try page.finish(same: 4)
        return (sink.text, page.differs)
    }

    @Test func eachKindHasItsSign() throws {
        let changes = [
            FieldChange("response status", "200", "404", drift: .type), FieldChange("response header:a", nil, "x\n"),
            FieldChange("response header:b", "y", nil),
        ]
        let (text, differs) = try self.page([
            .added(self.other), .removed(self.exchange), .changed(old: self.exchange, new: self.other, changes: changes),
        ])
        #expect(
            text == """
                + 3 GET http://a/pets
                - 2 GET http://a/\\u{1b}
                ~ 2 → 3 GET http://a/\\u{1b}
                    response status: 200 → 404
                    response header:a: x\\n is new
                    response header:b: y is gone
                4 the same, 1 changed, 1 added, 1 removed. Differences: 2 removed, 1 type, 2 added.

                """)
        #expect(differs)
    }

    @Test func nothingIsNoDifference() throws {
        #expect(try self.page([]).text == "4 the same, 0 changed, 0 added, 0 removed.\n")
        #expect(try self.page([]).differs == false)
        #expect(try self.page([], json: true).text == "[]\n")
    }

    @Test func jsonHasAnObjectForEach() throws {
        let changed = CassetteDiff.Entry.changed(
            old: self.other, new: self.other, changes: [FieldChange("response status", "200", "404", drift: .type)])
        let text = try self.page([.added(self.other), changed], json: true).text
        let document = try JSONDocument(Array(text.utf8)).root
        let elements = Array(document.elements)
        #expect(elements.map { $0["kind"]?.string } == ["added", "changed"])
        #expect(elements[0]["new"]?.int == 3 && elements[0]["old"] == nil)
        #expect(elements[1]["changes"]?.elements.first { _ in true }?["place"]?.string == "response status")
        #expect(elements[1]["changes"]?.elements.first { _ in true }?["drift"]?.string == "type")
    }
}
