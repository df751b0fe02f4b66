import TapeBytes
import TapeProxy
import Testing

@testable import WiretapeCLI

@Suite struct SettingRowTests {
    @Test func whatNobodySaidIsDefault() {
        let rows = SettingRow.rows(RunSettings())
        #expect(rows.allSatisfy { $0.source == .standard })
        #expect(
            rows.map { "\($0.name) \($0.value)" } == [
                "mode once", "match method,url,body", "repeat never", "order any", "latency none", "refreshDates false", "failOn miss",
                "onExpired warn", "keepOnFailure true", "review false", "durability normal", "onDiskFull pass", "listen 127.0.0.1:0",
                "grace 5",
            ])
        #expect(SettingRow.table(rows)[1] == "match          method,url,body  default")
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
            refreshFields: [json:/at]
            upstreamCA: [ca.pem]
            insecureUpstream: [c.test]
            """
        let rows = SettingRow.rows(try ConfigFile(path: "w.yaml", bytes: Array(yaml.utf8)).settings)
        #expect(rows.filter { $0.name == "ignore" }.map(\.source.description) == ["w.yaml line 2", "w.yaml line 3"])
        #expect(
            rows.map(\.name) == [
                "mode", "match", "ignore", "ignore", "patterns", "redact", "keep", "secretEnv", "repeat", "order", "latency",
                "refreshDates", "refreshFields", "failOn", "maxAge", "onExpired", "keepOnFailure", "review", "durability", "onDiskFull",
                "listen", "grace", "passthrough", "refuse", "upstreamCA", "insecureUpstream",
            ])
        #expect(SettingRow.table(rows)[3].hasPrefix("                  json:/id"))
    }

    @Test func jsonHasAnObjectForEachRow() throws {
        let rows = [SettingRow(name: "repeat", value: "la\"st", source: .commandLine)]
        let root = try JSONDocument(SettingRow.json(rows)).root
        #expect(Array(root.elements).first?["value"]?.string == "la\"st")
        #expect(Array(root.elements).first?["name"]?.string == "repeat" && Array(root.elements).first?["source"]?.string == "command line")
    }
}
