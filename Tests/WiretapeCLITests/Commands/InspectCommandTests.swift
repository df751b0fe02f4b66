import ArgumentParser
import TapeCore
import Testing

@testable import WiretapeCLI

@Suite struct InspectCommandTests {
    @Test func takesAFileANumberAndAForm() throws {
        let list = try InspectCommand.parse(["pets.json", "--json"])
        #expect(list.number == nil)
        #expect(list.json)
        let body = try InspectCommand.parse(["pets.json", "3", "--body", "request"])
        #expect(body.number == 3)
        #expect(body.body == .request)
    }

    @Test(arguments: [
        ["pets.json", "--body", "response"], ["pets.json", "1", "--json", "--body", "response"], ["pets.json", "x"],
        ["pets.json", "1", "--body", "both"], [],
    ])
    func refusesWhatMeansNothing(arguments: [String]) {
        #expect(throws: (any Error).self) { try InspectCommand.parse(arguments) }
    }

    @Test func aCassetteThatIsMissingEndsWithOne() throws {
        let folder = try TemporaryFolder()
        let command = try InspectCommand.parse(["\(folder.path)/none.json"])
        #expect(throws: ExitCode(ExitStatus.failed)) { try command.inspect() }
    }

    @Test func aNumberThatIsMissingEndsWithOne() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(cassetteText([]), to: "pets.json")
        #expect(throws: ExitCode(ExitStatus.failed)) { try InspectCommand.parse([path, "4"]).inspect() }
    }
}
