import Foundation
import Testing
@testable import TrafficRules

/// The examples of the pages are valid rules.
@Suite struct TrafficRulesPageTests {
    private static func page(_ name: String = "traffic-rules.md") throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return try String(contentsOf: root.appendingPathComponent("docs/\(name)"), encoding: .utf8)
    }

    private static func examples(_ page: String) throws -> [String] {
        try self.page(page).components(separatedBy: "```yaml\n").dropFirst().map { String($0.components(separatedBy: "```")[0]) }
    }

    @Test(arguments: [("traffic-rules.md", 9), ("coming-from.md", 4)]) func everyExampleIsRead(page: String, count: Int) throws {
        let folder = try RuleFolderTests.Folder()
        for file in ["fixtures/config.json", "fixtures/report.pdf", "fixtures/cat.png", "site/index.html"] {
            try folder.write(file, "content")
        }
        let examples = try Self.examples(page)
        #expect(examples.count >= count)
        for example in examples {
            guard case .members(let members) = try RulesText.node(example).content, let modify = members.first, members.count == 1 else {
                Issue.record("not a list of rules: \(example)")
                continue
            }
            #expect(modify.name == "modify")
            let rules = try TrafficRules([RuleList(node: modify.value, file: page, folder: folder.path)])
            #expect(!rules.isEmpty)
        }
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
