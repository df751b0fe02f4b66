import CassettePlayback
import CassetteRedaction
import CassetteRun
import CassetteStore
@testable import TapeProxy
import TapeTestSupport
import TapeTrust
import Testing

@Suite struct RunSettingsTests {
    private static func set<Value>(_ value: Value) -> Setting<Value> { Setting(value: value, source: .commandLine) }

    private static func settings(_ change: (inout RunSettings) throws -> Void) rethrows -> RunSettings {
        var settings = RunSettings()
        try change(&settings)
        return settings
    }

    @Test(arguments: Settings.rows.filter { SettingSamples.texts[$0.key] != nil })
    func listsAddAndTheRestReplaces(row: SettingRow) throws {
        let samples = try #require(SettingSamples.texts[row.key])
        let (base, other) = (
            try Self.settings { try $0.read(row, samples.first, source: .session) },
            try Self.settings { try $0.read(row, samples.second, source: .commandLine) }
        )
        let sum = base.adding(other)
        #expect(sum.shown(row).map(\.text) == (row.isList ? [samples.first, samples.second] : [samples.second]))
        #expect(sum.shown(row).map(\.source) == (row.isList ? [.session, .commandLine] : [.commandLine]))
        #expect(base.adding(RunSettings()) == base && RunSettings().adding(base) == base)
    }

    /// Settings that each source writes in a way of its own have tests of their own.
    @Test func everySettingHasASample() {
        let own = [Settings.modify.row.key, Settings.verdict.row.key]
        #expect(Set(Settings.rows.map(\.key)) == Set(SettingSamples.texts.keys).union(own))
        #expect(Set(Settings.rows.map(\.key)).count == Settings.rows.count)
    }

    @Test func aCassettesRulesAreTheLowestLayer() throws {
        let texts = MatchRuleTexts(match: ["url"], ignore: ["query:a"], patterns: ["query:b=x"])
        let settings = RunSettings(
            matchTexts: texts, redaction: try RedactionRules(rules: ["json:/a"], keep: ["jwt"]), of: "pets.json")
        #expect(settings.matchTexts == texts)
        #expect(settings[Settings.ignore].first?.source == .cassette("pets.json"))
        #expect(settings[Settings.redact] == [Setting(value: "json:/a", source: .cassette("pets.json"))])
        #expect(settings[Settings.keep].map(\.value) == ["jwt"])
    }

    @Test func withoutAWordTheStandardHolds() {
        let settings = RunSettings()
        #expect(settings.matchTexts.isEmpty)
        #expect(
            settings.value(Settings.repetition) == .never && settings.value(Settings.order) == .any
                && settings.value(Settings.onExpired) == .warn)
        #expect(settings.failOnInForce == .standard)
    }

    @Test func strictOrderFailsOnOrder() {
        #expect(Self.settings { $0[Settings.order] = Self.set(.strict) }.failOnInForce.flaws == [.miss, .order])
    }
}

@Suite struct ListenAddressTests {
    @Test(
        arguments: [
            ("127.0.0.1:7070", "127.0.0.1", 7070), ("localhost:0", "localhost", 0), ("[::1]:65535", "::1", 65535), ("[::]:80", "::", 80),
            ("example.test:080", "example.test", 80), ("8080", "127.0.0.1", 8080), (":8080", "127.0.0.1", 8080),
        ])
    func aHostAndAPortAreTaken(text: String, host: String, port: Int) {
        #expect(ListenAddress(argument: text) == ListenAddress(host: host, port: port))
    }

    @Test(arguments: [
        "", ":", ":65536", "80x", "localhost", "localhost:", "localhost:65536", "localhost:-1", "localhost:+80", "localhost:8 0", "::1:80",
        "[]:80",
        "[::1]", "localhost:99999999999999999999", "localhost:x",
    ])
    func anythingElseIsRefused(text: String) {
        #expect(ListenAddress(argument: text) == nil)
    }

    @Test(arguments: ["127.0.0.1:7070", "[::1]:0", "localhost:80"])
    func theTextIsUnchanged(text: String) {
        #expect(ListenAddress(argument: text)?.description == text)
    }
}

@Suite struct RunSettingsRedactionTests {
    private func settings(redaction: Bool? = nil) -> RunSettings {
        var settings = RunSettings()
        settings[Settings.redact] = [Setting(value: "header:x-a", source: .session)]
        settings[Settings.keep] = [Setting(value: "jwt", source: .session)]
        settings[Settings.secretEnv] = ["HELD", "EMPTY", "MISSING"].map { Setting(value: $0, source: .session) }
        settings[Settings.redaction] = redaction.map { Setting(value: $0, source: .session) }
        return settings
    }

    private func secret(_ name: String) -> [UInt8]? { ["HELD": Array("kT7-pQ2x".utf8), "EMPTY": []][name] }

    @Test func rulesExceptionsAndSecretsAreTogether() throws {
        let rules = try #require(try self.settings().redactionRules(secret: self.secret))
        #expect(rules.rules.count == 1 && rules.keep.count == 1)
        #expect(rules.secrets == [SecretValue(name: "HELD", bytes: Array("kT7-pQ2x".utf8))])
        #expect(self.settings().missingSecrets(secret: self.secret) == ["EMPTY", "MISSING"])
        #expect(try self.settings(redaction: true).redactionRules(secret: self.secret) == rules)
    }

    @Test func aRunIsPlannedWithTheSettingsInForce() throws {
        var settings = self.settings()
        settings[Settings.ignore] = [Setting(value: "query:a", source: .session)]
        settings[Settings.refreshFields] = [Setting(value: "json:/at", source: .session)]
        settings[Settings.maxAge] = Setting(value: Age(seconds: 1), source: .session)
        var options = try settings.planOptions(mayRerecord: true, secret: self.secret)
        #expect(options.redaction == (try settings.redactionRules(secret: self.secret)))
        #expect(options.matchTexts.ignore == ["query:a"] && options.maxAge?.seconds == 1 && options.mayRerecord)
        #expect(options.refreshedFields == nil, "dates stay unless they are to move")
        #expect(options.repetition == .never && options.order == .any && options.onExpired == .warn)
        settings[Settings.refreshDates] = Setting(value: true, source: .session)
        settings[Settings.order] = Setting(value: .strict, source: .session)
        settings[Settings.repetition] = Setting(value: .last, source: .session)
        settings[Settings.onExpired] = Setting(value: .fail, source: .session)
        options = try settings.planOptions(mayRerecord: false, secret: self.secret)
        #expect(options.refreshedFields == ["json:/at"] && options.order == .strict && options.repetition == .last)
        #expect(options.onExpired == .fail && !options.mayRerecord)
    }

    @Test func secretsAreKeptWithoutRedaction() throws {
        #expect(try self.settings(redaction: false).redactionRules(secret: self.secret) == nil)
        #expect(self.settings(redaction: false).missingSecrets(secret: self.secret) == [])
    }
}

@Suite struct SettingSourceTests {
    @Test(
        arguments: [
            (.standard, "default"), (.cassette("a/pets.json"), "a/pets.json"), (.commandLine, "command line"), (.session, "session"),
            (.file("/w/wiretape.yaml", line: 3, section: nil), "/w/wiretape.yaml line 3"),
            (.file("wiretape.yaml", line: 9, section: "pets*"), "wiretape.yaml line 9, for \"pets*\""),
        ] as [(SettingSource, String)])
    func aSourceIsNamed(_ source: SettingSource, _ text: String) {
        #expect(source.description == text)
    }
}
