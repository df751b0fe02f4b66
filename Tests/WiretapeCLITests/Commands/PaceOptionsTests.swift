import ArgumentParser
import TapeCore
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
        #expect(settings.refreshDates?.value == ["json:/until"])
        #expect(try PaceOptions.parse(["--refresh-dates"]).lay(over: RunSettings()).refreshDates?.value == [])
    }

    @Test(arguments: [["--latency", "soon"], ["--refresh-field", "json:/a"], ["--refresh-dates", "--refresh-field", "query:a"]])
    func whatNobodyUnderstandsIsWrongUsage(_ options: [String]) {
        #expect(throws: (any Error).self) { try PaceOptions.parse(options) }
    }
}
