import CassetteModel
import TapeBytes
import Testing
@testable import TrafficRules

@Suite struct RuleEditingTests {
    private func list(_ yaml: String, folder: String? = nil) throws -> RuleList {
        RuleList(node: try RulesText.node(yaml), file: "the page", folder: folder)
    }

    @Test func rulesThatStayKeepTheirNamesAndCounts() throws {
        let engine = try RulesText.engine("- block: 403\n- when: \"~u /a\"\n  pace: lte")
        _ = engine.plan(for: .get("http://a/a"), now: .zero)
        var rules = engine.rules
        try rules.insert(self.list("- when: \"~m PUT\"\n  block: 404\n- pace: 3g"), at: 1)
        #expect(rules.rules.map(\.name) == ["rule 1", "rule 3", "rule 4", "rule 2"])
        rules.move(3, to: 0)
        #expect(engine.replace(rules, after: 1) == 2)
        #expect(engine.report().map(\.name) == ["rule 2", "rule 1", "rule 3", "rule 4"])
        #expect(engine.report().map(\.matched) == [1, 1, 0, 0])
    }

    @Test func aListThatWasReplacedMeanwhileIsNotChanged() throws {
        let engine = try RulesText.engine("- block: 403")
        let seen = engine.numbered
        engine.replace(TrafficRules())
        #expect(engine.replace(seen.rules, after: seen.list) == nil)
        #expect(engine.isEmpty && engine.list == seen.list + 1)
    }

    @Test func activityChangesWithTheReport() throws {
        let engine = try RulesText.engine("- when: \"~u /a\"\n  block: 403")
        var known = [engine.activity]
        _ = engine.plan(for: .get("http://x/b"), now: .zero)
        #expect(engine.activity == known[0], "nothing matched")
        _ = engine.plan(for: .get("http://x/a"), now: .zero)
        known.append(engine.activity)
        var rules = engine.rules
        rules.rules[0].isOn = false
        engine.replace(rules)
        known.append(engine.activity)
        #expect(Set(known).count == 3)
    }

    @Test func aWrongTextChangesNothing() throws {
        var rules = try RulesText.rules("- name: one\n  block: 403")
        for (yaml, words) in [
            ("- block: 404\n- blok: 405", "line 2"), ("", "there is no rule"), ("- name: one\n  block: 404", "is called \"one\", too"),
            ("hello", "a rule needs members"),
        ] {
            #expect(throws: SettingSyntaxError.self) { try rules.insert(self.list(yaml), at: 0) }
            do { try rules.insert(self.list(yaml), at: 0) } catch let error as SettingSyntaxError {
                #expect(error.message.contains(words), "\(error.message)")
            }
            #expect(rules.rules.map(\.name) == ["one"])
        }
    }

    @Test func aReplacedRuleKeepsItsPlaceAndItsNameIfBothHaveNone() throws {
        var rules = try RulesText.rules("- name: one\n  block: 403\n- block: 404")
        try rules.replace(1, with: self.list("modify:\n  - pace: lte"))
        #expect(rules.rules[1].name == "rule 2" && rules.rules[1].place == .init(file: "wiretape.yaml", line: 3))
        try rules.replace(0, with: self.list("name: two\nblock: 405"))
        #expect(rules.rules.map(\.name) == ["two", "rule 2"])
        #expect(throws: SettingSyntaxError.self) { try rules.replace(0, with: self.list("- block: 1\n- block: 2")) }
    }

    @Test func theTextHasRulesAsTheyAreSwitchedNow() throws {
        var rules = try RulesText.rules("- block: 403\n- enabled: false\n  pace: lte\n- enabled: true\n  block: 404")
        #expect(rules.rules[1].current.isSame(as: rules.rules[1].node))
        for index in 0..<3 { rules.rules[index].isOn.toggle() }
        #expect(
            rules.yaml == "modify:\n  - block: 403\n    enabled: false\n  - pace: lte\n  - block: 404\n    enabled: false\n")
        let again = try TrafficRules([RuleList(node: try #require(try RulesText.node(rules.yaml)["modify"]), file: "x", folder: nil)])
        #expect(again.rules.map(\.isOn) == [false, true, false])
        #expect(TrafficRules().yaml == "modify: []\n")
    }

    @Test func quotesMatterForWordsOfJSONAlone() throws {
        let node = { (yaml: String) in try RulesText.node(yaml) }
        #expect(try node("when: ~u /a").isSame(as: node("when: \"~u /a\"")))
        for word in ["1", "-2.5", "true", "null"] {
            #expect(try !node("json: \(word)").isSame(as: node("json: \"\(word)\"")), "\(word)")
        }
    }

    @Test func writtenRulesAreReportedWhereTheyAre() throws {
        let engine = try RulesText.engine("- block: 403\n- name: two\n  pace: lte")
        _ = engine.plan(for: .get("http://a/"), now: .zero)
        engine.relocate(["two": .init(file: "other.yaml", line: 9)])
        #expect(engine.report().map(\.place.description) == ["\"wiretape.yaml\" line 1", "\"other.yaml\" line 9"])
        #expect(engine.report().map(\.matched) == [1, 1])
    }
}
