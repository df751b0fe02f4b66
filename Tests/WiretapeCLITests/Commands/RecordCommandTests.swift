import TapeCore
import TapeProxy
import Testing

@testable import WiretapeCLI

@Suite struct RecordCommandTests {
    @Test func everythingIsRecordedAnew() throws {
        let run = try RecordCommand.parse(["pets.json", "--durability", "full", "--on-disk-full", "refuse"]).proxyRun
        #expect(run.file == "pets.json")
        #expect(run.mode == .all)
        #expect(run.repetition == .never)
        #expect(run.recording?.durability == .full)
        #expect(run.recording?.onDiskFull == .refuse)
        #expect(run.command == [])
    }

    @Test func optionsBehindTheDashesAreTheCommands() throws {
        let run = try RecordCommand.parse(["pets.json", "--quiet", "--", "curl", "--json", "--", "-v"]).proxyRun
        #expect(run.command == ["curl", "--json", "--", "-v"])
        #expect(run.proxy.quiet)
        #expect(!run.proxy.json && !run.proxy.verbose)
    }

    @Test(arguments: [
        [], ["pets.json", "curl"], ["pets.json", "--repeat", "last"], ["pets.json", "--durability", "none"], ["--", "curl"],
    ])
    func whatMeansNothingIsRefused(arguments: [String]) {
        #expect(throws: (any Error).self) { try RecordCommand.parse(arguments) }
    }
}
