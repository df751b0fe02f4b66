import ArgumentParser
import TapeCore
import Testing

@testable import WiretapeCLI

@Suite struct ReplayCommandTests {
    @Test func nothingIsRecorded() throws {
        let run = try ReplayCommand.parse(["pets.json", "--", "npm", "test"]).proxyRun
        #expect(run.file == "pets.json")
        #expect(run.mode == .none)
        #expect(run.repetition == .never)
        #expect(run.recording == nil)
        #expect(run.command == ["npm", "test"])
    }

    @Test(arguments: Repetition.allCases)
    func repetitionIsPassedOn(repetition: Repetition) throws {
        #expect(try ReplayCommand.parse(["pets.json", "--repeat", repetition.rawValue]).proxyRun.repetition == repetition)
    }

    @Test(arguments: [["pets.json", "--repeat", "always"], ["pets.json", "--on-disk-full", "pass"], ["pets.json", "--mode", "once"], []])
    func whatMeansNothingIsRefused(arguments: [String]) {
        #expect(throws: (any Error).self) { try ReplayCommand.parse(arguments) }
    }

    @Test func aCassetteThatIsMissingEndsWithOne() throws {
        let folder = try TemporaryFolder()
        let command = try ReplayCommand.parse([folder.file("none.json"), "--", "true"])
        #expect(throws: ExitCode(ExitStatus.failed)) { try command.run() }
        #expect(try folder.names() == [])
    }
}
