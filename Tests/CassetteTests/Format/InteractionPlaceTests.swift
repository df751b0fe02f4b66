import Testing

@testable import CassetteModel

@Suite struct InteractionPlaceTests {
    @Test func linesAreCountedFromTheFilesStart() {
        let error = InteractionPlace(file: "a.json", interaction: 2, line: 10).error(.damaged, line: 3, member: "id", "is missing")
        #expect(error.message == "'a.json' line 12: interaction 2: id: is missing; correct that line or restore the file from a copy")
    }

    @Test func whatIsNotKnownIsLeftOut() {
        let error = InteractionPlace().error(.damaged, line: 1, member: "", "expected an object")
        #expect(error.message == "line 1: expected an object; correct that line or restore the file from a copy")
    }
}
