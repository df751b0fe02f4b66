import TapeProxy
import Testing

@testable import WiretapeCLI
import TapeTestSupport

@Suite struct ConfigNodeTests {
    private static func yaml(_ text: String) throws -> ConfigNode { try ConfigNode.yaml(Array(text.utf8), file: "w.yaml") }
    private static func json(_ text: String) throws -> ConfigNode { try ConfigNode.json(Array(text.utf8), file: "w.json") }

    @Test func bothFormsGiveTheSameValues() throws {
        let yaml = try Self.yaml("a: [x, 'null', null]\nb:\n  c: 30d\n  d: true\ne:\n")
        let json = try Self.json("{\"a\": [\"x\", \"null\", null],\n\"b\":\n {\"c\": \"30d\",\n\"d\": true},\n\"e\": null}")
        for root in [yaml, json] {
            guard case .members(let members) = root.content else { throw TestProblem("no members") }
            #expect(members.map(\.name) == ["a", "b", "e"])
            #expect(members.map(\.line) == (root == yaml ? [1, 2, 5] : [1, 2, 5]))
            guard case .list(let list) = members[0].value.content else { throw TestProblem("no list") }
            #expect(list.map(\.content) == [.text("x"), .text("null"), .nothing])
            guard case .members(let inner) = members[1].value.content else { throw TestProblem("no members") }
            #expect(inner.map(\.value.content) == [.text("30d"), .text("true")])
            #expect(members[2].value.content == .nothing)
        }
    }

    @Test func anEmptyFileHasNothing() throws {
        #expect(try Self.yaml("").content == .nothing)
        #expect(try Self.yaml("# nothing yet\n").content == .nothing)
    }

    @Test(
        arguments: [
            ("a: [", "line 2"), ("a: b\n\tc: d", "line 2"), ("a: 1\na: 2", "\"a\" appears twice"), ("a: *b", "line 1"),
            ("--- a\n--- b", "line 2"),
            ("? [a]\n: b", "a key is not text"), ("a: \u{1}", "w.yaml"), ("? {a: b}\n: c", "a key is not text"),
        ])
    func invalidYAMLIsReportedWithItsLine(_ text: String, _ part: String) throws {
        let error = #expect(throws: SettingError.self) { try Self.yaml(text) }
        #expect(error?.message.contains(part) == true && error?.message.hasPrefix("\"w.yaml\"") == true, "\(error?.message ?? "")")
    }

    @Test(arguments: [("{", "line 1"), ("{\"a\": 1,\n\"a\": 2}", "line 2: \"a\" appears twice"), ("{\"a\": \"\\ud800\"}", "surrogate")])
    func invalidJSONIsReportedWithItsLine(_ text: String, _ part: String) throws {
        let error = #expect(throws: SettingError.self) { try Self.json(text) }
        #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
    }

    @Test func bytesThatAreNoTextAreReported() {
        #expect(throws: SettingError("\"w.yaml\" is not UTF-8: save it as UTF-8.")) {
            try ConfigNode.yaml([0x61, 0x3A, 0xFF], file: "w.yaml")
        }
    }

    /// Ten aliases of ten aliases, and so on: 10 to the 9th values in a few hundred bytes.
    @Test func aliasesOfAliasesEndAtTheLimit() {
        var text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        for level in 1...8 {
            text += "a\(level): &a\(level) [" + Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ") + "]\n"
        }
        #expect(throws: SettingError("\"w.yaml\" has more than 10000 values, aliases included: remove some.")) { try Self.yaml(text) }
    }

    @Test(arguments: [("[", "]"), ("{a: ", "}")])
    func depthEndsAtTheLimit(_ open: String, _ close: String) {
        for depth in [17, 60_000] {
            let text = "a: " + String(repeating: open, count: depth) + String(repeating: close, count: depth)
            #expect(throws: SettingError.self) { try Self.yaml(text) }
        }
        #expect(throws: SettingError.self) { try Self.yaml(String(repeating: "- ", count: 60_000)) }
        #expect(throws: SettingError.self) { try Self.json(String(repeating: "[", count: 60) + String(repeating: "]", count: 60)) }
    }
}
