import TapeCore
import TapeProxy
import Testing

@testable import WiretapeCLI

@Suite struct RunCommandTests {
    @Test(arguments: [([], RecordMode.once), (["--mode", "once"], .once), (["--mode", "new-episodes"], .newEpisodes)])
    func theModeSaysWhatHappensToNewRequests(options: [String], mode: RecordMode) throws {
        #expect(try RunCommand.parse(["pets.json"] + options).proxyRun.mode == mode)
    }

    @Test func optionsOfRecordingAndOfReplayingAreBothPassedOn() throws {
        let run = try RunCommand.parse(["pets.json", "--repeat", "cycle", "--on-disk-full", "refuse", "--grace", "9", "--", "npm", "test"])
            .proxyRun
        #expect(run.file == "pets.json")
        #expect(run.repetition == .cycle)
        #expect(run.recording?.onDiskFull == .refuse)
        #expect(run.recording?.durability == .normal)
        #expect(run.proxy.grace == 9)
        #expect(run.command == ["npm", "test"])
    }

    @Test(arguments: ["all", "none", "passthrough", "newEpisodes"])
    func otherModesAreRefused(mode: String) {
        #expect(throws: (any Error).self) { try RunCommand.parse(["pets.json", "--mode", mode]) }
    }
}
