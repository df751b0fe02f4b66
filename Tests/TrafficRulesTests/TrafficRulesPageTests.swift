import Foundation
import Testing
@testable import TrafficRules

/// What docs/traffic-rules.md shows is read as it stands.
@Suite struct TrafficRulesPageTests {
    private static func page(_ name: String = "traffic-rules.md") throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return try String(contentsOf: root.appendingPathComponent("docs/\(name)"), encoding: .utf8)
    }

    private static func examples(_ page: String) throws -> [String] {
        try self.page(page).components(separatedBy: "```yaml\n").dropFirst().map { String($0.components(separatedBy: "```")[0]) }
    }

    /// The rules of each example of a page.
    private static func lists(_ page: String) throws -> [TrafficRules] {
        let folder = try RuleFolderTests.Folder()
        for file in ["fixtures/config.json", "fixtures/report.pdf", "fixtures/cat.png"] { try folder.write(file, "content") }
        return try self.examples(page).map { example in
            guard case .members(let members) = try RulesText.node(example).content, let modify = members.first else {
                throw RuleNotFound(example: example)
            }
            #expect(members.map(\.name) == ["modify"])
            return try TrafficRules([RuleList(node: modify.value, file: page, folder: folder.path)])
        }
    }

    private struct RuleNotFound: Error {
        let example: String
    }

    @Test(arguments: [("traffic-rules.md", 9), ("rules-from-other-tools.md", 4)])
    func everyExampleIsRead(page: String, count: Int) throws {
        let lists = try Self.lists(page)
        #expect(lists.count >= count)
        #expect(lists.allSatisfy { !$0.isEmpty })
    }

    @Test func rulesOfOtherToolsHaveTheirEffect() throws {
        for rules in try Self.lists("rules-from-other-tools.md") {
            let engine = RuleEngine(rules)
            for rule in rules.rules {
                let condition = rule.condition ?? "~u /"
                let word = condition.split(separator: " ").last.map(String.init) ?? ""
                let url =
                    condition.hasPrefix("~d ")
                    ? "http://\(word)/" : word.hasPrefix("/") ? "http://a.example\(word)" : "https://api.example.com/v2/pets"
                let request = RequestFacts.get(word == "example.com/static/" ? "http://example.com/static/a.txt" : url)
                // A share decides by number.
                let names = (0..<100).flatMap { _ in engine.plan(for: request, now: .zero)?.names ?? [] }
                #expect(names.contains(rule.name), "\(rule.name) of \(rule.place)")
            }
        }
    }

    @Test func theSchemaHasTheMembersOfRules() throws {
        let root = try JSONSerialization.jsonObject(with: Data(try Self.page("traffic-rules.schema.json").utf8)) as? [String: Any]
        let definitions = try #require(root?["$defs"] as? [String: [String: Any]])
        func names(_ name: String) throws -> Set<String> {
            Set(try #require(definitions[name]?["properties"] as? [String: Any], "\(name)").keys)
        }
        func words(_ name: String) throws -> [String] { try #require(definitions[name]?["enum"] as? [String], "\(name)") }
        #expect(try names("rule") == Set(TrafficRule.memberNames))
        #expect(try names("fault") == Set(FaultRule.names))
        #expect(try names("pace") == Set(PaceRule.names))
        #expect(try names("respond") == Set(RespondRule.names))
        #expect(try names("request") == Set(EditStep.names(.request)))
        #expect(try names("response") == Set(EditStep.names(.response)))
        #expect(try words("kind") == FaultRule.Name.allCases.map(\.rawValue))
        #expect(try words("profile") == PaceProfile.all.map(\.name))
    }

    @Test func tablesNameAllKindsAndProfiles() throws {
        let page = try Self.page()
        for kind in FaultRule.Name.allCases { #expect(page.contains("`\(kind.rawValue)`"), "\(kind)") }
        for kind in TrafficRule.Kind.allCases where kind != .edit { #expect(page.contains("`\(kind.rawValue)`"), "\(kind)") }
        func rate(_ kilobits: Double) -> String {
            kilobits < 1000 ? "\(Int(kilobits)) kbit" : "\((kilobits / 1000).formatted(.number.locale(Locale(identifier: "en")))) Mbit"
        }
        for profile in PaceProfile.all {
            #expect(
                page.contains("| `\(profile.name)` | \(profile.latency) ms | \(rate(profile.down)) | \(rate(profile.up)) |"), "\(profile)")
        }
    }
}
