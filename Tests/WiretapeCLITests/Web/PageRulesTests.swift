import TapeBytes
import TapeInspector
import Testing
import TrafficRules
@testable import WiretapeCLI

@Suite struct PageRulesTests {
    private func problem(_ text: String) -> String {
        do {
            _ = try RulesText.read(Array(text.utf8), name: "the page")
            return ""
        } catch {
            return error.message
        }
    }

    @Test func rulesAreReadFromYAMLAndJSON() throws {
        let yaml = try RulesText.read(Array("- block: 403\n  when: \"~u /a\"\n".utf8), name: "the page")
        let json = try RulesText.read(Array(#"[{"block": 403, "when": "~u /a\/\ud83d\ude00"}]"#.utf8), name: "the page")
        guard case .list(let one) = yaml.content, case .list(let other) = json.content else { throw TestFailure() }
        #expect(one[0]["block"]?.isSame(as: other[0]["block"] ?? yaml) == true && one[0]["when"]?.line == 2)
        #expect(other[0]["when"]?.content == .text("~u /a/😀"))
    }

    @Test func errorsNameTheLine() {
        #expect(self.problem("- block: [403\n").hasPrefix("\"the page\" line 2: "))
        #expect(self.problem("a: 1\na: 2\n").contains("line 2: \"a\" appears twice"))
        #expect(self.problem("a: *b\n").contains("line 1"))
        #expect(self.problem("\u{FFFF}a: \0").isEmpty == false)
    }

    @Test func textsThatWouldFillTheMemoryAreRefused() {
        var bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        for level in 1...9 {
            let aliases = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
            bomb += "a\(level): &a\(level) [\(aliases)]\n"
        }
        #expect(self.problem(bomb).contains("more than"))
        #expect(self.problem(String(repeating: "[", count: 5000)).isEmpty == false)
    }

    private struct TestFailure: Error {}
}
