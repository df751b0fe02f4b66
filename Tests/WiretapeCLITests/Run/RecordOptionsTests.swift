import ArgumentParser
import CassetteRedaction
import TapeProxy
import Testing
@testable import WiretapeCLI

@Suite struct RecordOptionsTests {
    @Test func missingOptionsKeepTheSettings() throws {
        var settings = RunSettings()
        settings[Settings.review] = Setting(value: true, source: .standard)
        settings[Settings.durability] = Setting(value: .full, source: .standard)
        #expect(try RecordOptions.parse([]).lay(over: settings) == settings)
    }

    @Test func givenOptionsOverrideTheSettings() throws {
        let options = try RecordOptions.parse([
            "--durability", "full", "--on-disk-full", "refuse", "--no-keep-on-failure", "--no-review", "--redact", "json:/a", "--keep",
            "jwt",
            "--secret-env", "KEY",
        ])
        let settings = options.lay(over: RunSettings())
        #expect(settings.value(Settings.durability) == .full && settings.value(Settings.onDiskFull) == .refuse)
        #expect(!settings.value(Settings.keepOnFailure) && settings[Settings.review] == Setting(value: false, source: .commandLine))
        #expect(settings[Settings.redact].map(\.value) == ["json:/a"] && settings[Settings.keep].map(\.value) == ["jwt"])
        #expect(settings[Settings.secretEnv] == [Setting(value: "KEY", source: .commandLine)])
    }

    @Test func anAnswerWithoutAQuestionIsWrongUsage() {
        #expect(throws: (any Error).self) { try RecordOptions.parse(["--yes", "--no-review"]) }
    }

    @Test(arguments: [["--redact", "query:a"], ["--keep", "jwt"], ["--secret-env", "PATH"]])
    func rulesForNothingAreWrongUsage(_ options: [String]) {
        #expect(throws: (any Error).self) { try RecordOptions.parse(options + ["--no-redaction"]) }
    }
}

@Suite struct RedactionOptionsTests {
    private func parse(_ arguments: [String]) throws -> SettingOptions<RedactionGroup> {
        try SettingOptions<RedactionGroup>.parse(arguments)
    }

    @Test func rulesExceptionsAndNamedSecretsComeTogether() throws {
        let options = try self.parse(
            ["--redact", "json:/a", "--redact", "text=x+", "--keep", "jwt"] + ["KEY", "GONE", "NONE"].flatMap { ["--secret-env", $0] })
        let environment = ["KEY": Array("value-1".utf8), "NONE": [UInt8]()]
        let rules = try options.redactionRules { environment[$0] }
        let expected = try RedactionRules(
            rules: ["json:/a", "text=x+"], keep: ["jwt"], secrets: [SecretValue(name: "KEY", bytes: Array("value-1".utf8))])
        #expect(rules == expected)
        #expect(options.missing { environment[$0] } == ["GONE", "NONE"])
    }

    @Test func optionsAreAppendedToTheFilesOwn() throws {
        var settings = RunSettings()
        settings[Settings.redact] = [Setting(value: "header:x-a", source: .standard)]
        let laid = try self.parse(["--redact", "json:/a", "--keep", "jwt", "--secret-env", "KEY"]).lay(over: settings)
        #expect(laid[Settings.redact].map(\.value) == ["header:x-a", "json:/a"] && laid[Settings.redact].last?.source == .commandLine)
        #expect(laid[Settings.keep].map(\.value) == ["jwt"] && laid[Settings.secretEnv].map(\.value) == ["KEY"])
        #expect(try self.parse([]).isEmpty && !(try self.parse(["--keep", "jwt"]).isEmpty))
    }

    @Test func withoutOptionsTheRulesAreTheStandardOnes() throws {
        #expect(try self.parse([]).redactionRules() == .standard)
    }

    @Test(arguments: [["--redact", "nowhere:x"], ["--redact", "text=("], ["--keep", "json:no-slash"]])
    func anInvalidRuleIsWrongUsage(_ arguments: [String]) {
        #expect(throws: (any Error).self) { try self.parse(arguments) }
    }

    @Test func variablesAreReadAsBytes() throws {
        #expect(EnvironmentSecret.value("PATH")?.isEmpty == false)
        #expect(EnvironmentSecret.value("WIRETAPE_NO_SUCH_VARIABLE") == nil)
    }
}
