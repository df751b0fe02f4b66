import ArgumentParser
import Testing

@testable import WiretapeCLI

@Suite struct RecordOptionsTests {
    @Test func aRecordingTakesItsPlaceUnaskedUnlessItIsToldOtherwise() throws {
        let options = try RecordOptions.parse([])
        #expect(!options.keepOnFailure && !options.review && !options.yes)
        #expect(try RecordOptions.parse(["--review", "--yes"]).yes)
    }

    @Test func anAnswerWithoutAQuestionIsWrongUsage() {
        #expect(throws: (any Error).self) { try RecordOptions.parse(["--yes"]) }
    }
}
