import CassetteModel
import CassettePlayback
import CassetteRedaction
import CassetteRun
import Testing

@testable import Wiretape

@Suite struct CassetteSettingsTests {
    @Test func textsAreThoseOfTheCommandLine() throws {
        var settings = CassetteSettings()
        #expect(try settings.planOptions.matchTexts.isEmpty)
        settings.match = ["method"]
        settings.ignore = ["query:a"]
        settings.patterns = ["query:b=[0-9]+"]
        #expect(try settings.planOptions.matchTexts == MatchRuleTexts(match: ["method"], ignore: ["query:a"], patterns: ["query:b=[0-9]+"]))
    }

    @Test func redactionIsOffOrHasRules() throws {
        var settings = CassetteSettings()
        settings.redact = ["header:x-new"]
        #expect(try settings.planOptions.redaction?.rules.map(\.text) == ["header:x-new"])
        settings = CassetteSettings()
        settings.redaction = false
        #expect(try settings.planOptions.redaction == nil)
        settings.secrets = ["PIN": "1"]
        #expect(throws: RedactionRuleError.self) { try settings.planOptions }
        settings.redaction = true
        #expect(throws: RedactionRuleError.self) { try settings.planOptions }
    }

    @Test func datesMoveOnlyWhereThatIsAskedFor() throws {
        var settings = CassetteSettings()
        settings.refreshFields = ["json:/at"]
        #expect(try settings.planOptions.refreshedFields == nil)
        settings.refreshDates = true
        #expect(try settings.planOptions.refreshedFields == ["json:/at"])
    }
}
