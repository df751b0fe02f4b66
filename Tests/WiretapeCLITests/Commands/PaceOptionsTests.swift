import ArgumentParser
import TapeProxy
import Testing

@testable import WiretapeCLI

@Suite struct PaceOptionsTests {
    @Test func whatIsNotSaidLeavesTheSettingsAlone() throws {
        var settings = RunSettings()
        settings.latency = Setting(value: "recorded", source: .standard)
        #expect(try PaceOptions.parse([]).lay(over: settings) == settings)
    }

    @Test func aPaceAndDatesAreLaidOverTheSettings() throws {
        let options = try PaceOptions.parse(["--latency", "×2", "--refresh-dates", "--refresh-field", "json:/until"])
        let settings = options.lay(over: RunSettings())
        #expect(settings.latency?.value == "×2")
        #expect(settings.refreshesDates && settings.refreshFields == [Setting(value: "json:/until", source: .commandLine)])
        #expect(try PaceOptions.parse(["--no-refresh-dates"]).lay(over: settings).refreshDates?.value == false)
    }

    @Test(arguments: [["--latency", "soon"], ["--refresh-dates", "--refresh-field", "query:a"]])
    func whatNobodyUnderstandsIsWrongUsage(_ options: [String]) {
        #expect(throws: (any Error).self) { try PaceOptions.parse(options) }
    }
}
