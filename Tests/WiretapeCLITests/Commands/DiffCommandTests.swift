import Foundation
import Testing

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
        #expect(lines.contains { $0.hasPrefix("+ 3 GET ") } && lines.last == "0 the same, 2 changed, 1 added, 0 removed.", "\(lines)")
        #expect(!end.outputText.contains("secret"))
        let all = try Wiretape.run(["diff", self.old, self.new, "--all", "--json"])
        #expect(all.status == 1 && !all.outputText.contains("secret"))
        let list = try #require(try JSONSerialization.jsonObject(with: Data(all.output)) as? [[String: Any]])
        #expect(list.compactMap { $0["kind"] as? String } == ["changed", "changed", "added"])
        let places = (list[0]["changes"] as? [[String: Any]])?.compactMap { $0["place"] as? String } ?? []
        #expect(places.contains("started") && places.contains("request query:token"), "\(places)")
    }

    @Test func whatCannotBeReadIsTrouble() throws {
        let end = try Wiretape.run(["diff", self.old, self.folder.file("none.json")])
        #expect(end.status == 2 && end.errors.contains("none.json"), "\(end.errors)")
    }
}
