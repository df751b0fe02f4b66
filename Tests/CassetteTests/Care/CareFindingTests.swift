import Testing

@testable import CassetteTools

@Suite struct CareFindingTests {
    @Test func onlyWhatCanSpoilAReplayIsAProblem() {
        let problems: [CareFinding.Kind] = [.torn, .malformed, .duplicateID, .damagedBody, .changedBody]
        let others: [CareFinding.Kind] = [.undeveloped, .unusedFile, .unjudged]
        #expect(problems.allSatisfy { CareFinding($0, text: "x").isProblem })
        #expect(!others.contains { CareFinding($0, text: "x").isProblem })
    }
}
