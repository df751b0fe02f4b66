import ArgumentParser
import TapeProxy
import Testing

@testable import WiretapeCLI

@Suite struct VerdictOptionsTests {
    @Test func optionsAreLaidOverSettings() throws {
        let options = try VerdictOptions.parse([
            "--repeat", "last", "--order", "strict", "--fail-on", "miss,unused", "--max-age", "30d", "--on-expired", "fail", "--report",
            "a.json",
            "--report", "b.xml",
        ])
        let settings = options.lay(over: RunSettings())
        #expect(
            settings.repetition?.value == .last && settings.order?.value == .strict && settings.failOn?.value.flaws == [.miss, .unused])
        #expect(settings.maxAge?.value.seconds == 30 * 86_400 && settings.onExpired?.value == .fail)
        #expect(settings.repetition?.source == .commandLine)
        #expect(options.report.map(\.path) == ["a.json", "b.xml"])
    }

    @Test func withoutOptionsNothingIsSaid() throws {
        #expect(try VerdictOptions.parse([]).lay(over: RunSettings()) == RunSettings())
    }

    @Test(
        arguments: [
            ["--repeat", "always"], ["--order", "x"], ["--fail-on", ""], ["--fail-on", "leak"], ["--report", "a.txt"], ["--max-age", "30"],
            ["--on-expired", "x"],
        ])
    func aMistakeIsWrongUsage(_ arguments: [String]) {
        #expect(throws: (any Error).self) { try VerdictOptions.parse(arguments) }
    }
}
