import CassetteRun
import Testing

@Suite struct AgeTests {
    @Test(arguments: [("90s", 90), ("15m", 900), ("12h", 43_200), ("30d", 2_592_000), ("2w", 1_209_600), ("0s", 0)] as [(String, Int64)])
    func aNumberAndAUnitAreADuration(_ text: String, _ seconds: Int64) throws {
        #expect(try Age(text).seconds == seconds)
    }

    @Test(arguments: ["", "d", "30", "30 d", "-1d", "+1d", "1.5h", "3x", "1d12h", "99999999999999999999d"])
    func anythingElseIsReported(_ text: String) {
        #expect(throws: SettingError("\"\(text)\" is not a duration; write a number followed by s, m, h, d or w, such as 30d")) {
            try Age(text)
        }
    }

    @Test func moreThanAHundredYearsAreAMistake() {
        #expect(throws: SettingError("\"40000d\" is more than 100 years; write a shorter duration, or leave it out")) { try Age("40000d") }
    }

    @Test(arguments: [("30d", "30d"), ("14d", "2w"), ("90s", "90s"), ("60m", "1h"), ("0s", "0s")])
    func theLargestWholeUnitIsShown(_ text: String, _ shown: String) throws {
        #expect(try Age(text).description == shown)
    }

    @Test(
        arguments: [(3, "3 seconds"), (150, "2 minutes"), (7200, "2 hours"), (86_400, "24 hours"), (45 * 86_400 + 5, "45 days")]
            as [(Int64, String)])
    func peopleReadWholeUnits(_ seconds: Int64, _ words: String) {
        #expect(Age(seconds: seconds).words == words)
    }
}
