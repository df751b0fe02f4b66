import Foundation
import Testing

@Suite struct ConfigCommandTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    @Test func itShowsWhereEachSettingComesFrom() throws {
        try self.folder.write("ignore:\n  - query:ts\ncassettes:\n  'p*.json': {repeat: last}\n".utf8, to: "wiretape.yaml")
        try self.folder.write(#"{ "wiretape": 1, "match": { "ignore": ["query:own"] }, "interactions": [] }"#.utf8, to: "pets.json")
        let end = try Wiretape.run(["config", "pets.json", "--order", "strict"], directory: self.folder.path)
        #expect(end.status == 0, "\(end.errors)")
        let lines = end.outputText.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        let file = lines.first?.dropFirst("configuration: ".count) ?? ""
        #expect(file.hasSuffix("/wiretape.yaml"))
        #expect(
            lines.dropFirst() == [
                "match method,url,body default", "ignore query:own pets.json", "query:ts \(file) line 2",
                "repeat last \(file) line 4, for \"p*.json\"", "order strict command line", "latency none default",
                "failOn miss,order default", "onExpired warn default",
            ])
    }

    @Test func aMistakeIsToldWithItsLineAndFails() throws {
        try self.folder.write("repeat: last\nfail_on: miss\n".utf8, to: "wiretape.yaml")
        let end = try Wiretape.run(["config"], directory: self.folder.path)
        #expect(end.status == 1)
        #expect(end.errors.contains("wiretape.yaml\" line 2: \"fail_on\" is no setting; did you mean \"failOn\"?"), "\(end.errors)")
    }

    @Test func jsonIsForScripts() throws {
        let end = try Wiretape.run(["config", "--no-config", "--json"], directory: self.folder.path)
        let rows = try JSONSerialization.jsonObject(with: Data(end.output)) as? [[String: String]]
        #expect(rows?.first == ["name": "match", "value": "method,url,body", "source": "default"])
    }
}
