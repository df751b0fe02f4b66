import ArgumentParser
import Foundation
import TapeBytes
import TapeProxy
import Testing
@testable import WiretapeCLI
import TapeTestSupport

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
                "order strict command line", "conversation strict default", "ranges computed default", "latency x2 command line",
                "refreshDates true \(file) line 5",
                "refreshFields json:/at command line", "clock real default", "failOn miss,order default", "onExpired warn default",
                "keepOnFailure true default",
                "review false default", "durability normal default", "onDiskFull pass default", "listen 127.0.0.1:0 default",
                "grace 5 default",
            ])
    }

    @Test func aMistakeIsReportedWithItsLineAndFails() throws {
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

@Suite struct ConfigOptionsTests {
    @Test func aNamedFileIsRead() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("repeat: last".utf8, to: "other.yaml")
        #expect(try ConfigOptions.parse(["--config", path]).file()?.settings[Settings.repetition]?.value == .last)
    }

    @Test func noneIsReadWhereNoneIsWanted() throws {
        #expect(try ConfigOptions.parse(["--no-config"]).file() == nil)
    }

    @Test func bothAtOnceAreWrongUsage() {
        #expect(throws: (any Error).self) { try ConfigOptions.parse(["--no-config", "--config", "a.yaml"]) }
    }
}

@Suite struct SettingLineTests {
    @Test func unsetSettingsAreDefaults() {
        let rows = SettingLine.rows(RunSettings())
        #expect(rows.allSatisfy { $0.source == .standard })
        #expect(
            rows.map { "\($0.name) \($0.value)" } == [
                "mode once", "match method,url,body", "repeat never", "order any", "conversation strict", "ranges computed", "latency none",
                "refreshDates false", "clock real",
                "failOn miss", "onExpired warn", "keepOnFailure true", "review false", "durability normal", "onDiskFull pass",
                "listen 127.0.0.1:0",
                "grace 5",
            ])
        #expect(SettingLine.table(rows)[1] == "match          method,url,body  default")
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
            descriptors: [pets.pb]
            passthrough: ["*.a.test"]
            refuse: [b.test]
            maxAge: 30d
            refreshFields: [json:/at]
            upstreamCA: [ca.pem]
            insecureUpstream: [c.test]
            """
        let rows = SettingLine.rows(try ConfigFile(path: "w.yaml", bytes: Array(yaml.utf8)).settings)
        #expect(rows.filter { $0.name == "ignore" }.map(\.source.description) == ["w.yaml line 2", "w.yaml line 3"])
        #expect(
            rows.map(\.name) == [
                "mode", "match", "ignore", "ignore", "patterns", "descriptors", "redact", "keep", "secretEnv", "repeat", "order",
                "conversation", "ranges",
                "latency",
                "refreshDates", "refreshFields", "clock", "failOn", "maxAge", "onExpired", "keepOnFailure", "review", "durability",
                "onDiskFull",
                "listen", "grace", "passthrough", "refuse", "upstreamCA", "insecureUpstream",
            ])
        #expect(SettingLine.table(rows)[3].hasPrefix("                  json:/id"))
    }

    @Test func jsonHasAnObjectForEachRow() throws {
        let rows = [SettingLine(name: "repeat", value: "la\"st", source: .commandLine)]
        let root = try JSONDocument(SettingLine.json(rows)).root
        #expect(Array(root.elements).first?["value"]?.string == "la\"st")
        #expect(Array(root.elements).first?["name"]?.string == "repeat" && Array(root.elements).first?["source"]?.string == "command line")
    }
}
