import ArgumentParser
import TapeCore
import Testing

@testable import WiretapeCLI

@Suite struct ExportCommandTests {
    private let folder: TemporaryFolder
    private let cassette: String

    init() throws {
        self.folder = try TemporaryFolder()
        let interactions = [interactionText(2, second: 5), interactionText(1, responseBody: #"{ "text": "hello" }"#)]
        self.cassette = try self.folder.write(cassetteText(interactions), to: "pets.json")
    }

    @Test func theArchiveHoldsTheExchangesInOrderOfRequestStart() throws {
        try ExportCommand.parse([self.cassette, "--har", "--output", self.folder.file("pets.har")]).export()
        let log = try #require(try JSONDocument(self.folder.read("pets.har")).root["log"])
        #expect(log["version"]?.string == "1.2")
        #expect(log["creator"]?["version"]?.string == Version.current)
        let entries = Array(try #require(log["entries"]).elements)
        #expect(entries.map { $0["request"]?["url"]?.string } == ["http://a/1", "http://a/2"])
        #expect(entries.first?["response"]?["content"]?["text"]?.string == "hello")
    }

    @Test func aCassetteThatIsMissingEndsWithOneAndLeavesNoFile() throws {
        let command = try ExportCommand.parse([self.folder.file("none.json"), "--har", "-o", self.folder.file("x.har")])
        #expect(throws: ExitCode(ExitStatus.failed)) { try command.export() }
        #expect(!self.folder.exists("x.har"))
    }

    @Test func theCassetteIsNotOverwritten() throws {
        let before = try self.folder.read("pets.json")
        let command = try ExportCommand.parse([self.cassette, "--har", "-o", self.cassette])
        #expect(throws: ExitCode(ExitStatus.failed)) { try command.export() }
        #expect(try self.folder.read("pets.json") == before)
    }

    @Test(arguments: [["pets.json"], ["--har"], ["pets.json", "--har", "x.har"]])
    func whatMeansNothingIsRefused(arguments: [String]) {
        #expect(throws: (any Error).self) { try ExportCommand.parse(arguments) }
    }
}
