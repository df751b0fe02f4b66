import ArgumentParser
import TapeCore
import Testing

@testable import WiretapeCLI

@Suite struct DevelopCommandTests {
    private let folder: TemporaryFolder
    private let cassette: String

    init() throws {
        self.folder = try TemporaryFolder()
        let octets = Array("hello".utf8)
        try self.folder.write(octets, to: "pets.bodies/undeveloped.raw")
        let crc32 = String(PlainCRC32.value(octets), radix: 16)
        let raw =
            "{ \"size\": 5, \"raw\": { \"file\": \"pets.bodies/undeveloped.raw\", \"offset\": 0, \"size\": 5, \"crc32\": \"\(crc32)\" } }"
        let headers = #""Content-Type: text/plain""#
        self.cassette = try self.folder.write(
            cassetteText([interactionText(1, responseBody: raw, headers: headers), interactionText(2)]), to: "pets.json")
    }

    @Test func aRawBodyBecomesTextOnce() throws {
        let command = try DevelopCommand.parse([self.cassette])
        #expect(try command.develop() == 1)
        #expect(try RecordedCassette(path: self.cassette).interaction(at: 0).response?.body?.content == .text(Array("hello".utf8)))
        #expect(!self.folder.exists("pets.bodies/undeveloped.raw"))
        #expect(try command.develop() == 0)
    }

    @Test func aCassetteThatIsMissingEndsWithOneAndIsNotMade() throws {
        let command = try DevelopCommand.parse([self.folder.file("none.json")])
        #expect(throws: ExitCode(ExitStatus.failed)) { try command.develop() }
        #expect(!self.folder.exists("none.json"))
    }

    @Test func aFileThatIsNoCassetteEndsWithOneAndIsLeftAlone() throws {
        try self.folder.write("hello".utf8, to: "letter.txt")
        let command = try DevelopCommand.parse([self.folder.file("letter.txt")])
        #expect(throws: ExitCode(ExitStatus.failed)) { try command.develop() }
        #expect(try self.folder.read("letter.txt") == Array("hello".utf8))
    }
}
