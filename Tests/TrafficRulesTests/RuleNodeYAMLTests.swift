import TapeBytes
import Testing
@testable import TrafficRules

@Suite struct RuleNodeYAMLTests {
    @Test func rulesAreWrittenAsPeopleWriteThem() throws {
        let yaml = #"""
            - name: staging
              when: "~u ^https://api\\.example\\.com/v2/"
              mapRemote: "http://127.0.0.1:3000/v2/"
            - fault: { kind: stall, after: 3 events, for: 20s, nth: [1, 3], share: 5% }
            - respond: { json: { id: "{{json:/id}}", a b: ["1", 1, true, null, -1.5e3, ""], e: {}, f: [] } }

            """#
        #expect(try RulesText.node(yaml).yaml() == yaml)
        let member = try RulesText.node("modify: []\nseed: 7\n")
        #expect(member.yaml(indent: 2) == "  modify: []\n  seed: 7\n")
    }

    @Test(arguments: [
        "", " ", "a ", " a", "a  b", "a: b", "a #b", "- a", "? a", "~", "null", "true", "1", "01", "0x1", "*a", "&a", "!a", "%a", "@a",
        "`a",
        "a,b", "[a]", "{a}", "a]", "\"a\"", "'a'", "a'b", "\\", "\n", "\t", "\r\n", "\u{85}", "\u{2028}", "\u{FEFF}a", "é", "\u{1F600}",
        "|", ">",
        "---", "...", "<<", "=", "a:", "5%", "3 events", "1:2", "no", "2001-01-01",
    ])
    func everyTextIsReadAgain(text: String) throws {
        for isString in [false, true] {
            let value = RuleNode(line: 1, content: .text(text), isString: isString)
            let list = RuleNode(
                line: 1,
                content: .list([
                    RuleNode(
                        line: 1, content: .members([.init(name: "a", line: 1, value: value), .init(name: text, line: 1, value: value)])),
                    RuleNode(line: 1, content: .list([value, value])),
                ]))
            let read = try RulesText.node(list.yaml())
            guard case .list(let items) = read.content, case .members(let members) = items[0].content,
                case .list(let texts) = items[1].content
            else {
                Issue.record("\(list.yaml()) is read as \(read)")
                return
            }
            #expect(members.map(\.name) == ["a", text])
            for value in members.map(\.value) + texts {
                #expect(value.content == .text(text))
                #expect(value.isString || !isString)
            }
        }
    }
}
