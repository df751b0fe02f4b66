import TapeCore
import ArgumentParser
import Testing

@testable import WiretapeCLI

@Suite struct RunSettingsTests {
    private static func settings(_ yaml: String) throws -> RunSettings {
        try ConfigFile(path: "wiretape.yaml", bytes: Array(yaml.utf8)).settings
    }

    @Test func listsAddAndTheRestReplaces() throws {
        let all = """
            match: [method, path]
            ignore: [query:a]
            patterns: ["query:t=[0-9]+"]
            redact: [header:x-a]
            keep: [jwt]
            secretEnv: [A]
            repeat: last
            order: strict
            latency: recorded
            failOn: [unused]
            maxAge: 1d
            onExpired: fail
            passthrough: [a.test]
            refuse: [b.test]
            mode: all
            refreshDates: true
            refreshFields: [json:/at]
            keepOnFailure: true
            review: true
            durability: full
            onDiskFull: refuse
            listen: 127.0.0.1:7070
            grace: 9
            upstreamCA: [ca.pem]
            insecureUpstream: [c.test]
            """
        let base = try Self.settings(all)
        let sum = base.adding(base)
        #expect(sum.match == base.match && sum.repetition == base.repetition && sum.order == base.order && sum.latency == base.latency)
        #expect(sum.failOn == base.failOn && sum.maxAge == base.maxAge && sum.onExpired == base.onExpired)
        #expect(sum.ignore.count == 2 && sum.patterns.count == 2 && sum.redact.count == 2 && sum.keep.count == 2)
        #expect(sum.secretEnv.count == 2 && sum.passthrough.count == 2 && sum.refuse.count == 2)
        #expect(sum.refreshFields.count == 2 && sum.upstreamCA.count == 2 && sum.insecureUpstream.count == 2)
        #expect(base.adding(RunSettings()) == base && RunSettings().adding(base) == base)
        let other = try Self.settings(
            "match: [url]\nrepeat: cycle\norder: any\nlatency: none\nfailOn: none\nmaxAge: 2d\nonExpired: warn\nmode: once\n"
                + "refreshDates: false\nkeepOnFailure: false\nreview: false\ndurability: normal\nonDiskFull: pass\nlisten: '[::1]:1'\ngrace: 0"
        )
        let laid = base.adding(other)
        #expect(laid.match == other.match && laid.repetition == other.repetition && laid.order == other.order)
        #expect(laid.latency == other.latency && laid.failOn == other.failOn && laid.maxAge == other.maxAge)
        #expect(laid.onExpired == other.onExpired && laid.ignore == base.ignore)
        #expect(laid.mode == other.mode && laid.refreshDates == other.refreshDates && laid.keepOnFailure == other.keepOnFailure)
        #expect(laid.review == other.review && laid.durability == other.durability && laid.onDiskFull == other.onDiskFull)
        #expect(laid.listen == other.listen && laid.grace == other.grace)
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

    @Test func whatIsSaidForNothingIsWrongUsage() throws {
        var settings = RunSettings()
        try settings.check()
        settings.onExpired = Setting(value: .fail, source: .commandLine)
        #expect(throws: ValidationError.self) { try settings.check() }
        settings.maxAge = Setting(value: Age(seconds: 1), source: .standard)
        try settings.check()
        settings.refreshFields = [Setting(value: "json:/a", source: .commandLine)]
        #expect(throws: ValidationError.self) { try settings.check() }
        settings.refreshDates = Setting(value: false, source: .commandLine)
        #expect(throws: ValidationError.self) { try settings.check() }
        settings.refreshDates = Setting(value: true, source: .standard)
        try settings.check()
        #expect(throws: ValidationError.self) { try settings.check(assumesYes: true) }
        settings.review = Setting(value: true, source: .standard)
        try settings.check(assumesYes: true)
        // A file may say what is for another day.
        try Self.settings("onExpired: fail\nrefreshFields: [json:/a]").check()
    }

    @Test func strictOrderFailsOnOrder() throws {
        #expect(try Self.settings("order: strict").failOnInForce.flaws == [.miss, .order])
    }
}
