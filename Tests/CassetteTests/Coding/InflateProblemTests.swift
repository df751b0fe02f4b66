import CassetteFormat
import Testing

@Suite struct InflateProblemTests {
    @Test func theDescriptionSaysWhatAndWhere() {
        let problem = InflateProblem(.corrupt, offset: 12, reason: "invalid block type")
        #expect("\(problem)" == "invalid block type at offset 12")
    }

    @Test func theKindIsPartOfTheIdentity() {
        #expect(InflateProblem(.tooLong, offset: 1, reason: "x") != InflateProblem(.tooDense, offset: 1, reason: "x"))
    }
}
