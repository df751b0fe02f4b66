@testable import TapeBytes
import CassetteModel
import CassettePlayback
import CassetteRedaction
import Testing

@testable import Wiretape

@Suite struct CassetteSettingsTests {
    @Test func textsAreThoseOfTheCommandLine() {
        var settings = CassetteSettings()
        #expect(settings.matchTexts.isEmpty)
        settings.match = ["method"]
        settings.ignore = ["query:a"]
        settings.patterns = ["query:b=[0-9]+"]
        #expect(settings.matchTexts == MatchRuleTexts(match: ["method"], ignore: ["query:a"], patterns: ["query:b=[0-9]+"]))
    }

    @Test func rulesOfAReplacedCassetteGoOnToHold() throws {
        var settings = CassetteSettings()
        settings.redact = ["header:x-new"]
        let old = try RedactionRules(rules: ["header:x-old"])
        #expect(try settings.redactionRules(replacing: old)?.rules.map(\.text) == ["header:x-old", "header:x-new"])
        settings = CassetteSettings()
        settings.redaction = false
        #expect(try settings.redactionRules(replacing: old) == nil)
        settings.secrets = ["PIN": "1"]
        #expect(throws: RedactionRuleError.self) { try settings.redactionRules(replacing: nil) }
        settings.redaction = true
        #expect(throws: RedactionRuleError.self) { try settings.redactionRules(replacing: nil) }
    }

    @Test func datesMoveOnlyWhereThatIsAskedFor() throws {
        var settings = CassetteSettings()
        #expect(try settings.dateRefresh(of: nil, now: Timestamp(microseconds: 0)) == nil)
        settings.refreshDates = true
        #expect(try settings.dateRefresh(of: nil, now: Timestamp(microseconds: 0)) != nil)
        settings.refreshFields = ["nowhere"]
        #expect(throws: MatchRuleError.self) { try settings.dateRefresh(of: nil, now: Timestamp(microseconds: 0)) }
    }
}
