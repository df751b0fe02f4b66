import Testing
@testable import TapeRecorder
@testable import WiretapeCLI

@Suite struct RedactCommandTests {
    @Test func theSummaryTellsKindsAndCountsAndNeverValues() throws {
        var outcome = CassetteRedaction.Outcome()
        outcome.exchanges = 3
        let command = try RedactCommand.parse(["pets.json"])
        #expect(command.summary(outcome) == "nothing to redact in 3 exchanges of \"pets.json\".")
        outcome.changed = 2
        outcome.places = 5
        outcome.kinds = ["jwt": 1, "cookie": 4]
        #expect(command.summary(outcome) == "redacted 5 places in 2 of 3 exchanges of \"pets.json\": cookie 4, jwt 1.")
        let dry = try RedactCommand.parse(["pets.json", "--dry-run"])
        #expect(dry.summary(outcome) == "would redact 5 places in 2 of 3 exchanges of \"pets.json\": cookie 4, jwt 1.")
    }

    @Test func aCassetteThatIsNotThereIsAnError() throws {
        let end = try Wiretape.run(["redact", "/nowhere/pets.json"])
        #expect(end.status == 1)
        #expect(end.errors.contains("\"/nowhere/pets.json\""), "\(end.errors)")
    }

    @Test func aRuleThatIsNoneIsWrongUsage() throws {
        let end = try Wiretape.run(["redact", "pets.json", "--redact", "nowhere:x"])
        #expect(end.status == 64)
    }
}
