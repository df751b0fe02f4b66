@testable import CassetteModel
import Testing

@Suite struct CassetteErrorTests {
    @Test func kindsAreDistinguishedByCode() {
        let error = CassetteError(.damaged, "'pets.json' line 7: expected ','; restore the file from version control")
        #expect(error.code == .damaged)
        #expect(error.code != .notFound)
        #expect("\(error.code)" == "damaged")
    }

    @Test func anErrorPrintsAsItsMessage() {
        #expect("\(CassetteError(.notFound, "no cassette 'pets.json'"))" == "no cassette 'pets.json'")
    }
}

@Suite struct InteractionPlaceTests {
    @Test func linesAreCountedFromTheFilesStart() {
        let error = InteractionPlace(file: "a.json", interaction: 2, line: 10).error(.damaged, line: 3, member: "id", "is missing")
        #expect(error.message == "'a.json' line 12: interaction 2: id: is missing; correct that line or restore the file from a copy")
    }

    @Test func unknownPlaceIsOmitted() {
        let error = InteractionPlace.textAlone.error(.damaged, line: 1, member: "", "expected an object")
        #expect(error.message == "line 1: expected an object; correct that line or restore the file from a copy")
    }
}
