import TapeCore
import TapeProxy
import Testing

@testable import WiretapeCLI

@Suite struct SettingRowTests {
    @Test func whatNobodySaidIsDefault() {
        #expect(
            SettingRow.table(SettingRow.rows(RunSettings())) == [
                "match      method,url,body  default", "repeat     never            default", "order      any              default",
                "latency    none             default", "failOn     miss             default", "onExpired  warn             default",
            ])
    }

    @Test func eachValueOfAListHasItsSource() throws {
        let yaml = """
            ignore:
              - query:ts
              - json:/id
            redact: [header:x-a]
            keep: [jwt]
            secretEnv: [KEY]
            patterns: ["query:n=[0-9]+"]
            passthrough: ["*.a.test"]
            refuse: [b.test]
            maxAge: 30d
            """
        let rows = SettingRow.rows(try ConfigFile(path: "w.yaml", bytes: Array(yaml.utf8)).settings)
        #expect(rows.filter { $0.name == "ignore" }.map(\.source.description) == ["w.yaml line 2", "w.yaml line 3"])
        #expect(
            rows.map(\.name) == [
                "match", "ignore", "ignore", "patterns", "redact", "keep", "secretEnv", "repeat", "order", "latency", "failOn", "maxAge",
                "onExpired", "passthrough", "refuse",
            ])
        #expect(SettingRow.table(rows)[2].hasPrefix("             json:/id"))
    }

    @Test func jsonHasAnObjectForEachRow() throws {
        let rows = [SettingRow(name: "repeat", value: "la\"st", source: .commandLine)]
        let root = try JSONDocument(SettingRow.json(rows)).root
        #expect(Array(root.elements).first?["value"]?.string == "la\"st")
        #expect(Array(root.elements).first?["name"]?.string == "repeat" && Array(root.elements).first?["source"]?.string == "command line")
    }
}
