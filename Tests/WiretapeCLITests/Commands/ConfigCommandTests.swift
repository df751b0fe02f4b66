import Foundation
import Testing

@Suite struct ConfigCommandTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    @Test func itShowsWhereEachSettingComesFrom() throws {
        try self.folder.write(
            "ignore:\n  - query:ts\ncassettes:\n  'p*.json': {repeat: last}\nrefreshDates: true\n".utf8, to: "wiretape.yaml")
        try self.folder.write(
            #"{ "wiretape": 1, "match": { "ignore": ["query:own"] }, "redaction": { "rules": ["json:/own"] }, "interactions": [] }"#.utf8,
            to: "pets.json")
        let end = try Wiretape.run(
            ["config", "pets.json", "--order", "strict", "--latency", "x2", "--refresh-field", "json:/at", "--redact", "header:x-a"],
            directory: self.folder.path)
        #expect(end.status == 0, "\(end.errors)")
        let lines = end.outputText.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        let file = lines.first?.dropFirst("configuration: ".count) ?? ""
        #expect(file.hasSuffix("/wiretape.yaml"))
        #expect(
            lines.dropFirst() == [
                "mode once default", "match method,url,body default", "ignore query:own pets.json", "query:ts \(file) line 2",
                "redact json:/own pets.json", "header:x-a command line", "repeat last \(file) line 4, for \"p*.json\"",
                "order strict command line", "latency x2 command line", "refreshDates true \(file) line 5",
                "refreshFields json:/at command line", "failOn miss,order default", "onExpired warn default", "keepOnFailure true default",
                "review false default", "durability normal default", "onDiskFull pass default", "listen 127.0.0.1:0 default",
                "grace 5 default",
            ])
    }

    @Test func aMistakeIsToldWithItsLineAndFails() throws {
        try self.folder.write("repeat: last\nfail_on: miss\n".utf8, to: "wiretape.yaml")
        let end = try Wiretape.run(["config"], directory: self.folder.path)
        #expect(end.status == 1)
        #expect(end.errors.contains("wiretape.yaml\" line 2: \"fail_on\" is not a setting; did you mean \"failOn\"?"), "\(end.errors)")
    }

    @Test func jsonIsForScripts() throws {
        let end = try Wiretape.run(["config", "--no-config", "--json"], directory: self.folder.path)
        let rows = try JSONSerialization.jsonObject(with: Data(end.output)) as? [[String: String]]
        #expect(rows?.first == ["name": "mode", "value": "once", "source": "default"])
    }
}
