import ArgumentParser
import TapeProxy
import Testing

@testable import WiretapeCLI

@Suite struct RecordOptionsTests {
    @Test func whatIsNotSaidLeavesTheSettingsAlone() throws {
        var settings = RunSettings()
        settings.review = Setting(value: true, source: .standard)
        settings.durability = Setting(value: .full, source: .standard)
        #expect(try RecordOptions.parse([]).lay(over: settings) == settings)
    }

    @Test func whatIsSaidIsLaidOverTheSettings() throws {
        let options = try RecordOptions.parse([
            "--durability", "full", "--on-disk-full", "refuse", "--no-keep-on-failure", "--no-review", "--redact", "json:/a", "--keep",
            "jwt",
            "--secret-env", "KEY",
        ])
        let settings = options.lay(over: RunSettings())
        #expect(settings.durabilityInForce == .full && settings.onDiskFullInForce == .refuse)
        #expect(!settings.keepsOnFailure && settings.review == Setting(value: false, source: .commandLine))
        #expect(settings.redact.map(\.value) == ["json:/a"] && settings.keep.map(\.value) == ["jwt"])
        #expect(settings.secretEnv == [Setting(value: "KEY", source: .commandLine)])
    }

    @Test func anAnswerWithoutAQuestionIsWrongUsage() {
        #expect(throws: (any Error).self) { try RecordOptions.parse(["--yes", "--no-review"]) }
    }

    @Test(arguments: [["--redact", "query:a"], ["--keep", "jwt"], ["--secret-env", "PATH"]])
    func rulesForNothingAreWrongUsage(_ options: [String]) {
        #expect(throws: (any Error).self) { try RecordOptions.parse(options + ["--no-redaction"]) }
    }
}
