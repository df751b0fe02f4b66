import CassetteModel
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
