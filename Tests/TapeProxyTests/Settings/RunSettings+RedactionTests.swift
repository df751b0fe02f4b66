import CassetteRedaction
import CassetteRun
import Testing
@testable import TapeProxy

@Suite struct RunSettingsRedactionTests {
    private func settings(redaction: Bool? = nil) -> RunSettings {
        var settings = RunSettings()
        settings.redact = [Setting(value: "header:x-a", source: .session)]
        settings.keep = [Setting(value: "jwt", source: .session)]
        settings.secretEnv = ["HELD", "EMPTY", "MISSING"].map { Setting(value: $0, source: .session) }
        settings.redaction = redaction.map { Setting(value: $0, source: .session) }
        return settings
    }

    private func secret(_ name: String) -> [UInt8]? { ["HELD": Array("kT7-pQ2x".utf8), "EMPTY": []][name] }

    @Test func rulesExceptionsAndSecretsAreTogether() throws {
        let rules = try #require(try self.settings().redactionRules(secret: self.secret))
        #expect(rules.rules.count == 1 && rules.keep.count == 1)
        #expect(rules.secrets == [SecretValue(name: "HELD", octets: Array("kT7-pQ2x".utf8))])
        #expect(self.settings().missingSecrets(secret: self.secret) == ["EMPTY", "MISSING"])
        #expect(try self.settings(redaction: true).redactionRules(secret: self.secret) == rules)
    }

    @Test func aRunIsPlannedWithWhatIsInForce() throws {
        var settings = self.settings()
        settings.ignore = [Setting(value: "query:a", source: .session)]
        settings.refreshFields = [Setting(value: "json:/at", source: .session)]
        settings.maxAge = Setting(value: Age(seconds: 1), source: .session)
        var options = try settings.planOptions(mayRerecord: true, secret: self.secret)
        #expect(options.redaction == (try settings.redactionRules(secret: self.secret)))
        #expect(options.matchTexts.ignore == ["query:a"] && options.maxAge?.seconds == 1 && options.mayRerecord)
        #expect(options.refreshedFields == nil, "dates stay unless they are to move")
        #expect(options.repetition == .never && options.order == .any && options.onExpired == .warn)
        settings.refreshDates = Setting(value: true, source: .session)
        settings.order = Setting(value: .strict, source: .session)
        settings.repetition = Setting(value: .last, source: .session)
        settings.onExpired = Setting(value: .fail, source: .session)
        options = try settings.planOptions(mayRerecord: false, secret: self.secret)
        #expect(options.refreshedFields == ["json:/at"] && options.order == .strict && options.repetition == .last)
        #expect(options.onExpired == .fail && !options.mayRerecord)
    }

    @Test func secretsAreKeptWhereThatIsSaid() throws {
        #expect(try self.settings(redaction: false).redactionRules(secret: self.secret) == nil)
        #expect(self.settings(redaction: false).missingSecrets(secret: self.secret) == [])
    }
}
