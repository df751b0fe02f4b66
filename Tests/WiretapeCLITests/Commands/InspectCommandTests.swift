import ArgumentParser
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
        let part = try InspectCommand.parse(["pets.json", "3", "--body", "request", "--part", "avatar", "--raw"])
        #expect(part.part == "avatar" && part.raw)
        #expect(try InspectCommand.parse(["pets.json", "--filter", "~m POST & !~c 201", "--json"]).filter == "~m POST & !~c 201")
        #expect(try InspectCommand.parse(["pets.json", "--extract", "out", "--overwrite", "--filter", "~s"]).overwrite)
        #expect(try InspectCommand.parse(["pets.json", "3", "--lint", "--json"]).lint)
    }

    @Test(arguments: [
        ["pets.json", "--body", "response"], ["pets.json", "x"],
        ["pets.json", "1", "--body", "both"], [], ["pets.json", "--part", "1"], ["pets.json", "1", "--raw"],
        ["pets.json", "1", "--raw", "--json", "--body", "request"], ["pets.json", "1", "--overwrite"],
        ["pets.json", "1", "--filter", "~q"],
        ["pets.json", "--filter", "~x"], ["pets.json", "1", "--lint", "--part", "1"],
        ["pets.json", "1", "--extract", "x", "--body", "request"],
        ["pets.json", "--extract", "x", "--lint"],
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
