import TapeProxy
import Testing

@testable import WiretapeCLI

@Suite struct ServerOptionsTests {
    @Test func loopsAreOnesOwnAndHaveBounds() throws {
        guard case .own(3) = try ServerOptions.parse(["--loops", "3"]).provider else {
            Issue.record("three loops were asked for")
            return
        }
        guard case .own(let standard) = try ServerOptions.parse([]).provider else {
            Issue.record("loops are a command's own")
            return
        }
        #expect((1...4).contains(standard))
        for wrong in ["0", "65", "-1", "two"] { #expect(throws: (any Error).self) { try ServerOptions.parse(["--loops=\(wrong)"]) } }
    }

    @Test func aLevelIsForALog() throws {
        #expect(throws: (any Error).self) { try ServerOptions.parse(["--log-level", "debug"]) }
        #expect(throws: (any Error).self) { try ServerOptions.parse(["--log", "run.log", "--log-level", "loud"]) }
        #expect(try ServerOptions.parse([]).openLog() == nil)
        let folder = try TemporaryFolder()
        let path = folder.file("run.log")
        #expect(try ServerOptions.parse(["--log", path]).openLog()?.logger.logLevel == .debug)
        #expect(try ServerOptions.parse(["--log", path, "--log-level", "warning"]).openLog()?.logger.logLevel == .warning)
    }

    @Test func theCassetteIsNoLog() throws {
        let folder = try TemporaryFolder()
        try folder.write("{}".utf8, to: "pets.json")
        let options = try ServerOptions.parse(["--log", folder.file("pets.json")])
        #expect(throws: SettingError.self) { try options.openLog(beside: folder.file("pets.json")) }
        #expect(try folder.read("pets.json") == Array("{}".utf8))
        let new = try ServerOptions.parse(["--log", folder.file("new.json")])
        #expect(throws: SettingError.self) { try new.openLog(beside: folder.path + "/./new.json") }
        #expect(throws: SettingError.self) { try new.openLog(servesSessions: true) }
        #expect(!folder.exists("new.json"))
    }
}
