import CassetteStore
import Testing

@testable import WiretapeCLI

@Suite struct RecordModeArgumentTests {
    @Test func aRunTakesTheModesThatMakeSenseForIt() {
        #expect(RecordMode.allValueStrings == ["once", "new-episodes", "all", "none"])
        for text in RecordMode.allValueStrings { #expect(RecordMode(argument: text)?.rawValue == text) }
        #expect(RecordMode(argument: "passthrough") == nil && RecordMode(argument: "") == nil)
    }

    @Test func itIsGivenByEitherName() throws {
        #expect(try RunCommand.parse(["a.json", "--record-mode", "all"]).proxyRun.settings.mode?.value == .all)
        #expect(try RunCommand.parse(["a.json", "--mode", "none"]).proxyRun.settings.mode?.value == RecordMode.none)
        #expect(try RunCommand.parse(["a.json"]).proxyRun.settings.mode == nil)
        #expect(throws: (any Error).self) { try RunCommand.parse(["a.json", "--mode", "passthrough"]) }
    }
}
