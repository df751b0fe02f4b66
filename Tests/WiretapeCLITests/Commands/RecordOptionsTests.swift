import ArgumentParser
import TapeCore
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

    @Test func secretsAreTakenOutUnlessSomebodySaysSo() throws {
        #expect(try RecordOptions.parse([]).redactionRules() == .standard)
        #expect(try RecordOptions.parse(["--keep", "jwt"]).redactionRules() == RedactionRules(rules: [], keep: ["jwt"]))
        #expect(try RecordOptions.parse(["--no-redaction"]).redactionRules() == nil)
    }

    @Test(arguments: [["--redact", "query:a"], ["--keep", "jwt"], ["--secret-env", "PATH"]])
    func rulesForNothingAreWrongUsage(_ options: [String]) {
        #expect(throws: (any Error).self) { try RecordOptions.parse(options + ["--no-redaction"]) }
    }
}
