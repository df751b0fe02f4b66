import CassettePlayback
import CassetteRedaction
import CassetteRun
import CassetteStore
@testable import TapeProxy
import TapeTrust
import Testing

@Suite struct RunSettingsTests {
    private static func set<Value>(_ value: Value) -> Setting<Value> { Setting(value: value, source: .commandLine) }

    private static func settings(_ change: (inout RunSettings) throws -> Void) rethrows -> RunSettings {
        var settings = RunSettings()
        try change(&settings)
        return settings
    }

    @Test func listsAddAndTheRestReplaces() throws {
        let base = try Self.settings {
            $0.match = Self.set(["method", "path"])
            $0.ignore = [Self.set("query:a")]
            $0.patterns = [Self.set("query:t=[0-9]+")]
            $0.descriptors = [Self.set("pets.pb")]
            $0.redact = [Self.set("header:x-a")]
            $0.keep = [Self.set("jwt")]
            $0.secretEnv = [Self.set("A")]
            $0.redaction = Self.set(true)
            $0.repetition = Self.set(.last)
            $0.order = Self.set(.strict)
            $0.latency = Self.set("recorded")
            $0.mode = Self.set(.all)
            $0.refreshDates = Self.set(true)
            $0.refreshFields = [Self.set("json:/a")]
            $0.keepOnFailure = Self.set(true)
            $0.review = Self.set(true)
            $0.durability = Self.set(.full)
            $0.onDiskFull = Self.set(.refuse)
            $0.listen = Self.set(ListenAddress(host: "127.0.0.1", port: 7070))
            $0.grace = Self.set(9)
            $0.upstreamCA = [Self.set("ca.pem")]
            $0.insecureUpstream = [Self.set(try HostPattern("c.test"))]
            $0.failOn = Self.set(try FailureRule(names: ["unused"]))
            $0.maxAge = Self.set(try Age("1d"))
            $0.onExpired = Self.set(.fail)
            $0.passthrough = [Self.set(try HostPattern("a.test"))]
            $0.refuse = [Self.set(try HostPattern("b.test"))]
        }
        let sum = base.adding(base)
        #expect(sum.match == base.match && sum.repetition == base.repetition && sum.order == base.order && sum.latency == base.latency)
        #expect(sum.failOn == base.failOn && sum.maxAge == base.maxAge && sum.onExpired == base.onExpired)
        #expect(sum.redaction == base.redaction && sum.refreshDates == base.refreshDates)
        #expect(sum.ignore.count == 2 && sum.patterns.count == 2 && sum.redact.count == 2 && sum.keep.count == 2)
        #expect(sum.secretEnv.count == 2 && sum.passthrough.count == 2 && sum.refuse.count == 2)
        #expect(sum.refreshFields.count == 2 && sum.upstreamCA.count == 2 && sum.descriptors.count == 2 && sum.insecureUpstream.count == 2)
        #expect(base.adding(RunSettings()) == base && RunSettings().adding(base) == base)
        let other = try Self.settings {
            $0.match = Self.set(["url"])
            $0.redaction = Self.set(false)
            $0.repetition = Self.set(.cycle)
            $0.order = Self.set(.any)
            $0.latency = Self.set("none")
            $0.mode = Self.set(.once)
            $0.refreshDates = Self.set(false)
            $0.keepOnFailure = Self.set(false)
            $0.review = Self.set(false)
            $0.durability = Self.set(.normal)
            $0.onDiskFull = Self.set(.pass)
            $0.listen = Self.set(ListenAddress(host: "::1", port: 1))
            $0.grace = Self.set(0)
            $0.failOn = Self.set(FailureRule([]))
            $0.maxAge = Self.set(try Age("2d"))
            $0.onExpired = Self.set(.warn)
        }
        let laid = base.adding(other)
        #expect(laid.match == other.match && laid.repetition == other.repetition && laid.order == other.order)
        #expect(laid.latency == other.latency && laid.failOn == other.failOn && laid.maxAge == other.maxAge)
        #expect(laid.redaction == other.redaction && laid.refreshDates == other.refreshDates)
        #expect(laid.mode == other.mode && laid.keepOnFailure == other.keepOnFailure && laid.review == other.review)
        #expect(laid.durability == other.durability && laid.onDiskFull == other.onDiskFull)
        #expect(laid.listen == other.listen && laid.grace == other.grace)
        #expect(laid.onExpired == other.onExpired && laid.ignore == base.ignore)
    }

    @Test func aCassettesRulesAreTheLowestLayer() throws {
        let texts = MatchRuleTexts(match: ["url"], ignore: ["query:a"], patterns: ["query:b=x"])
        let settings = RunSettings(
            matchTexts: texts, redaction: try RedactionRules(rules: ["json:/a"], keep: ["jwt"]), of: "pets.json")
        #expect(settings.matchTexts == texts)
        #expect(settings.ignore.first?.source == .cassette("pets.json"))
        #expect(settings.redact == [Setting(value: "json:/a", source: .cassette("pets.json"))])
        #expect(settings.keep.map(\.value) == ["jwt"])
    }

    @Test func withoutAWordTheStandardHolds() {
        let settings = RunSettings()
        #expect(settings.matchTexts.isEmpty)
        #expect(settings.repetitionInForce == .never && settings.orderInForce == .any && settings.onExpiredInForce == .warn)
        #expect(settings.failOnInForce == .standard)
    }

    @Test func strictOrderFailsOnOrder() {
        #expect(Self.settings { $0.order = Self.set(.strict) }.failOnInForce.flaws == [.miss, .order])
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
        #expect(rules.secrets == [SecretValue(name: "HELD", bytes: Array("kT7-pQ2x".utf8))])
        #expect(self.settings().missingSecrets(secret: self.secret) == ["EMPTY", "MISSING"])
        #expect(try self.settings(redaction: true).redactionRules(secret: self.secret) == rules)
    }

    @Test func aRunIsPlannedWithTheSettingsInForce() throws {
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
