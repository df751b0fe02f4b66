import TapeCore
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
            """
        let base = try Self.settings(all)
        let sum = base.adding(base)
        #expect(sum.match == base.match && sum.repetition == base.repetition && sum.order == base.order && sum.latency == base.latency)
        #expect(sum.failOn == base.failOn && sum.maxAge == base.maxAge && sum.onExpired == base.onExpired)
        #expect(sum.ignore.count == 2 && sum.patterns.count == 2 && sum.redact.count == 2 && sum.keep.count == 2)
        #expect(sum.secretEnv.count == 2 && sum.passthrough.count == 2 && sum.refuse.count == 2)
        #expect(base.adding(RunSettings()) == base && RunSettings().adding(base) == base)
        let other = try Self.settings("match: [url]\nrepeat: cycle\norder: any\nlatency: none\nfailOn: none\nmaxAge: 2d\nonExpired: warn")
        let laid = base.adding(other)
        #expect(laid.match == other.match && laid.repetition == other.repetition && laid.order == other.order)
        #expect(laid.latency == other.latency && laid.failOn == other.failOn && laid.maxAge == other.maxAge)
        #expect(laid.onExpired == other.onExpired && laid.ignore == base.ignore)
    }

    @Test func aCassettesRulesAreTheLowestLayer() {
        let texts = MatchRuleTexts(match: ["url"], ignore: ["query:a"], patterns: ["query:b=x"])
        let settings = RunSettings(matchTexts: texts, of: "pets.json")
        #expect(settings.matchTexts == texts)
        #expect(settings.ignore.first?.source == .cassette("pets.json"))
    }

    @Test func withoutAWordTheStandardHolds() {
        let settings = RunSettings()
        #expect(settings.matchTexts.isEmpty)
        #expect(settings.repetitionInForce == .never && settings.orderInForce == .any && settings.onExpiredInForce == .warn)
        #expect(settings.failOnInForce == .standard)
    }

    @Test func strictOrderFailsOnOrder() throws {
        #expect(try Self.settings("order: strict").failOnInForce.flaws == [.miss, .order])
    }
}
