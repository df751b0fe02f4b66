import NIOEmbedded
import TapeBytes
import Testing
import TrafficRules

@testable import TapeProxy

@Suite struct SessionModificationTests {
    @Test(arguments: [
        (#"{"modify": null}"#, "\"modify\" is null: send a list of rules, or an empty one for no rules."),
        (#"{"modify": [], "ttl": "0s"}"#, "\"ttl\" is 0 seconds: send at least 1s, or leave it out for the rest of the session."),
        (#"{"modify": [], "ttl": "0w"}"#, "\"ttl\" is 0 seconds: send at least 1s, or leave it out for the rest of the session."),
        (#"{"modify": [], "ttl": null}"#, "\"ttl\" is not a string: put it in quotes."),
        (#"{"modify": 1}"#, "\"modify\" needs a list of rules; write each after \"- \", for example - block: 403."),
        (#"{"modify": [{"blok": 403}]}"#, "\"modify\" line 1: a rule has no \"blok\"; did you mean \"block\"?"),
        (#"{"modify": [{"block": 403}, {"blok": 403}]}"#, "\"modify\" rule 2: a rule has no \"blok\"; did you mean \"block\"?"),
        ("{}", "\"modify\" is missing: send a list of rules, or an empty one for no rules."),
    ]) func whatWouldRemoveAllRulesIsRefused(json: String, message: String) throws {
        let error = #expect(throws: SessionError.self) { try SessionModification(Array(json.utf8)) }
        #expect(error?.message == message)
    }

    @Test func aListAndATimeAreRead() throws {
        #expect(try SessionModification(Array(#"{"modify": [], "ttl": "1s"}"#.utf8)).timeToLive == 1)
        #expect(try SessionModification(Array(#"{"modify": []}"#.utf8)).timeToLive == nil)
    }

    @Test func theSessionsOwnRulesGoOnWhenTheTimeIsOver() throws {
        let node = RuleNode(try JSONDocument(Array(#"[{"fault": {"status": 503, "first": 1}}]"#.utf8)).root)
        let engine = RuleEngine(try TrafficRules([RuleList(node: node, file: "rules", folder: nil)]))
        let request = RequestFacts(method: "GET", url: "http://h/a")
        let loop = EmbeddedEventLoop()
        #expect(engine.plan(for: request, now: .zero)?.fault != nil)
        let rules = SessionRulesSwitch(engine)
        rules.apply(try SessionModification(Array(#"{"modify": [], "ttl": "1s"}"#.utf8)), on: loop)
        #expect(engine.isEmpty)
        loop.advanceTime(by: .seconds(1))
        #expect(!engine.isEmpty)
        #expect(engine.plan(for: request, now: .zero)?.fault == nil)
        #expect(engine.report().map(\.matched) == [2])
    }

    @Test func rulesForTheRestOfTheSessionGoOnAfterOthersForATime() throws {
        let engine = RuleEngine(TrafficRules())
        let loop = EmbeddedEventLoop()
        let rules = SessionRulesSwitch(engine)
        rules.apply(try SessionModification(Array(#"{"modify": [{"name": "a", "block": 418}]}"#.utf8)), on: loop)
        rules.apply(try SessionModification(Array(#"{"modify": [{"name": "b", "block": 451}], "ttl": "1s"}"#.utf8)), on: loop)
        rules.apply(try SessionModification(Array(#"{"modify": [{"name": "c", "block": 410}], "ttl": "1s"}"#.utf8)), on: loop)
        #expect(engine.rules.rules.map(\.name) == ["c"])
        loop.advanceTime(by: .seconds(1))
        #expect(engine.rules.rules.map(\.name) == ["a"])
    }
}
