import ArgumentParser
import Testing

@testable import WiretapeCLI

@Suite struct ConfigOptionsTests {
    @Test func aNamedFileIsRead() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("repeat: last".utf8, to: "other.yaml")
        #expect(try ConfigOptions.parse(["--config", path]).file()?.settings.repetition?.value == .last)
    }

    @Test func noneIsReadWhereNoneIsWanted() throws {
        #expect(try ConfigOptions.parse(["--no-config"]).file() == nil)
    }

    @Test func bothAtOnceAreWrongUsage() {
        #expect(throws: (any Error).self) { try ConfigOptions.parse(["--no-config", "--config", "a.yaml"]) }
    }
}
