import CassetteRedaction
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

    @Test func theRulesOfAReplacedCassetteGoOnToHold() throws {
        let replaced = try RedactionRules(rules: ["header:x-b"])
        let rules = try #require(try self.settings().redactionRules(replacing: replaced, secret: self.secret))
        #expect(rules.rules.count == 2 && rules.keep.count == 1 && rules.secrets.count == 1)
        #expect(try self.settings(redaction: false).redactionRules(replacing: replaced, secret: self.secret) == nil)
    }

    @Test func secretsAreKeptWhereThatIsSaid() throws {
        #expect(try self.settings(redaction: false).redactionRules(secret: self.secret) == nil)
        #expect(self.settings(redaction: false).missingSecrets(secret: self.secret) == [])
    }
}
