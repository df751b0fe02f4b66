import ArgumentParser
import TapeProxy
import Testing
@testable import WiretapeCLI

@Suite struct RunSettingsCommandLineTests {
    @Test func whatIsSaidForNothingIsWrongUsage() throws {
        var settings = RunSettings()
        try settings.check()
        settings.onExpired = Setting(value: .fail, source: .commandLine)
        #expect(throws: ValidationError.self) { try settings.check() }
        settings.maxAge = Setting(value: Age(seconds: 1), source: .standard)
        try settings.check()
        settings.refreshFields = [Setting(value: "json:/a", source: .commandLine)]
        #expect(throws: ValidationError.self) { try settings.check() }
        settings.refreshDates = Setting(value: false, source: .commandLine)
        #expect(throws: ValidationError.self) { try settings.check() }
        settings.refreshDates = Setting(value: true, source: .standard)
        try settings.check()
        #expect(throws: ValidationError.self) { try settings.check(assumesYes: true) }
        settings.review = Setting(value: true, source: .standard)
        try settings.check(assumesYes: true)
        // A file may say what is for another day.
        try ConfigFile(path: "wiretape.yaml", bytes: Array("onExpired: fail\nrefreshFields: [json:/a]".utf8)).settings.check()
    }
}
