import TapeBytes
@testable import TapeInspector
import Testing
import TrafficRules

@Suite struct RuleSavingTests {
    private static let settings = """
        # settings of the project
        failOn: none   # not yet

        modify:
          # no ads
          - name: ads
            when: "~d ads.example"
            block: 403   # forbidden

          # answers
          - name: hello
            respond:
              body: |
                # not a comment
                hello
          - { name: slow, pace: slow-3g }
          # at the end

        # secrets
        redact: [json:/token]
        """ + "\n"

    /// What saving would write.
    private func after(_ run: TrafficRun) throws -> String {
        let found = try run.ask("modify/save", "{\"list\": \(run.engine.list)}")
        #expect(found.status == 200, "\(found.json.message)")
        return found.json["after"]?.string ?? ""
    }

    @Test func nothingIsWrittenWithoutTheDigestOfTheDifferences() throws {
        let run = try TrafficRun(Self.settings)
        _ = try run.change("remove", #""rule": 3"#)
        let shown = try run.ask("modify/save", #"{"list": 2}"#).json
        #expect(shown["changes"]?.bool == true && shown["before"]?.string == Self.settings && shown["written"] == nil)
        #expect(run.file.text.withLock { $0 } == Self.settings)
        let digest = try #require(shown["digest"]?.string)
        #expect(try run.ask("modify/save", #"{"list": 2, "digest": "00"}"#).status == 409)
        // The disk is full.
        run.file.problem.withLock { $0 = SettingSyntaxError("cannot write it: free some space.") }
        let failed = try run.ask("modify/save", "{\"list\": 2, \"digest\": \"\(digest)\"}")
        #expect(failed.status == 422 && failed.json.message == "cannot write it: free some space.")
        run.file.problem.withLock { $0 = nil }
        // Somebody edits another setting meanwhile.
        run.file.text.withLock { $0 = "grace: 2\n" + Self.settings }
        #expect(try run.ask("modify/save", "{\"list\": 2, \"digest\": \"\(digest)\"}").json.code == "stale")
        run.file.text.withLock { $0 = Self.settings }
        let written = try run.ask("modify/save", "{\"list\": 2, \"digest\": \"\(digest)\"}")
        #expect(written.status == 200 && written.json["written"]?.bool == true)
        #expect(run.file.text.withLock { $0 } == shown["after"]?.string)
        #expect(try self.after(run) == shown["after"]?.string, "there is nothing to save now")
    }

    @Test func everythingThatStaysKeepsItsBytes() throws {
        let run = try TrafficRun(Self.settings)
        #expect(try self.after(run) == Self.settings)
        _ = try run.change("switch", #""rule": 1, "enabled": false"#)
        let off = Self.settings.replacing("403   # forbidden\n", with: "403   # forbidden\n    enabled: false\n")
        #expect(try self.after(run) == off)
        _ = try run.change("add", #""text": "block: reset""#)
        #expect(try self.after(run) == off.replacing("pace: slow-3g }\n", with: "pace: slow-3g }\n  - block: reset\n"))
        _ = try run.change("move", #""rule": 2, "to": 1"#)
        #expect(
            try self.after(run) == """
                # settings of the project
                failOn: none   # not yet

                modify:

                  # answers
                  - name: hello
                    respond:
                      body: |
                        # not a comment
                        hello
                  # no ads
                  - name: ads
                    when: "~d ads.example"
                    block: 403   # forbidden
                    enabled: false
                  - { name: slow, pace: slow-3g }
                  - block: reset
                  # at the end

                # secrets
                redact: [json:/token]

                """)
        _ = try run.change("replace", #""rule": 2, "text": "name: ads\nblock: close""#)
        let replaced = try self.after(run)
        #expect(replaced.contains("  # no ads\n  - name: ads\n    block: close\n  - { name: slow"))
    }

    @Test func aRuleIsSwitchedOnAgain() throws {
        let text = "modify:\n- block: 403\n  enabled: false # for now\n  when: ~u /a\n- pace: lte\n"
        let run = try TrafficRun(text)
        _ = try run.change("switch", #""rule": 1, "enabled": true"#)
        #expect(try self.after(run) == "modify:\n- block: 403\n  when: ~u /a\n- pace: lte\n")
        _ = try run.change("switch", #""rule": 2, "enabled": false"#)
        #expect(try self.after(run) == "modify:\n- block: 403\n  when: ~u /a\n- pace: lte\n  enabled: false\n")
    }

    @Test(
        arguments: [
            (nil, "modify:\n  - block: 403\n"), ("", "modify:\n  - block: 403\n"), ("# empty\n", "# empty\nmodify:\n  - block: 403\n"),
            ("failOn: none", "failOn: none\nmodify:\n  - block: 403\n"),
            ("modify:\nfailOn: none\n", "modify:\n  - block: 403\nfailOn: none\n"),
            ("modify: [] # none\nfailOn: none\n", "modify: # none\n  - block: 403\nfailOn: none\n"),
            (
                "modify:\n  seed: 5\n  rules:\n    - pace: lte\n  # end\n",
                "modify:\n  seed: 5\n  rules:\n    - pace: lte\n    - block: 403\n  # end\n"
            ),
            ("modify: [{ pace: lte }]\nfailOn: none\n", "modify:\n  - pace: lte\n  - block: 403\nfailOn: none\n"),
            ("modify: [\n  { pace: lte },\n  ]\nfailOn: none\n", "modify:\n  - pace: lte\n  - block: 403\nfailOn: none\n"),
        ] as [(String?, String)])
    func aRuleIsAddedToFilesOfAllKinds(before: String?, after: String) throws {
        let run = try TrafficRun(before)
        _ = try run.change("add", #""text": "block: 403""#)
        #expect(try self.after(run) == after)
    }

    @Test func allRulesAreRemoved() throws {
        let run = try TrafficRun("failOn: none\nmodify:\n  # one\n  - block: 403\nredact: []\n")
        _ = try run.change("remove", #""rule": 1"#)
        #expect(try self.after(run) == "failOn: none\nmodify:\nredact: []\n")
    }

    @Test func filesThatCannotBeChangedSafelyStayAsTheyAre() throws {
        for text in ["{ failOn: none }\n", "failOn: none\n...\n"] {
            let run = try TrafficRun(text)
            _ = try run.change("add", #""text": "block: 403""#)
            let answer = try run.ask("modify/save", "{\"list\": \(run.engine.list)}")
            #expect(answer.status == 422 && answer.json.code == "settings", "\(text): \(answer.json)")
        }
        let json = try TrafficRun("{}", name: "wiretape.json")
        #expect(try json.ask("modify/save", #"{"list": 1}"#).json.message.contains("is JSON"))
        let none = try TrafficRun(savesRules: false)
        #expect(try none.ask("modify/save", #"{"list": 1}"#).json.message.contains("reads no settings file"))
        let small = try TrafficRun("failOn: none\n", sizeLimit: 30)
        _ = try small.change("add", #""text": "block: 403""#)
        #expect(try small.ask("modify/save", #"{"list": 2}"#).json.message.contains("a run reads at most 30"))
        // The next run would refuse it.
        let named = try TrafficRun("modify:\n  - block: 403\n")
        _ = try named.change("add", #""at": 1, "text": "name: rule 2\nblock: 404""#)
        #expect(try named.ask("modify/save", "{\"list\": \(named.engine.list)}").json.message.contains("is called \"rule 2\", too"))
    }

    @Test func rulesThatSomebodyEditedInTheFileAreNotLost() throws {
        let run = try TrafficRun(Self.settings)
        run.file.text.withLock { $0 = Self.settings.replacing("403", with: "404") }
        let answer = try run.ask("modify/save", #"{"list": 1}"#)
        #expect(answer.status == 409 && answer.json.message.contains("have changed since the run began"))
    }

    @Test func rulesOfOtherFilesStayThere() throws {
        let run = try TrafficRun("modify:\n  - block: 403\n", more: "- name: other\n  pace: lte\n- name: gone\n  pace: lte\n")
        _ = try run.change("switch", #""rule": 2, "enabled": false"#)
        _ = try run.change("remove", #""rule": 3"#)
        _ = try run.change("add", #""at": 1, "text": "block: 404""#)
        let found = try run.ask("modify/save", "{\"list\": \(run.engine.list)}").json
        #expect(found["after"]?.string == "modify:\n  - block: 404\n  - block: 403\n")
        #expect(
            found["elsewhere"]?.elements.map(\.string) == [
                "\"other\" is changed here, and stays as it is in \"more.yaml\" line 1",
                "\"gone\" is removed here, and stays in \"more.yaml\" line 3",
            ])
    }

    @Test func rulesOfSectionsMoveWithTheirLines() throws {
        let section = "cassettes:\n  pets.json:\n    modify:\n      - name: own\n        pace: lte\n"
        let text = "modify:\n  - block: 403\n" + section
        let run = try TrafficRun(text)
        // As the command line reads the section of a cassette.
        var rules = run.engine.rules
        let node = try #require(try SampleYAML.node(text)["cassettes"]?["pets.json"]?["modify"])
        try rules.insert(RuleList(node: node, file: "wiretape.yaml", folder: nil), at: 1)
        run.engine.replace(rules)
        _ = try run.change("add", #""at": 1, "text": "when: ~u /a\nblock: 404""#)
        let found = try run.ask("modify/save", "{\"list\": \(run.engine.list)}").json
        #expect(found["after"]?.string == "modify:\n  - when: \"~u /a\"\n    block: 404\n  - block: 403\n" + section)
        _ = try run.ask("modify/save", "{\"list\": \(run.engine.list), \"digest\": \"\(found["digest"]?.string ?? "")\"}")
        #expect(run.engine.report().map(\.place.line) == [2, 4, 8])
        #expect(try self.after(run) == found["after"]?.string)
    }

    @Test func aSavedRuleIsOneOfTheFile() throws {
        let run = try TrafficRun("modify:\n  - block: 403\n")
        _ = try run.change("add", #""at": 1, "text": "block: 404""#)
        let digest = try #require(try run.ask("modify/save", #"{"list": 2}"#).json["digest"]?.string)
        _ = try run.ask("modify/save", "{\"list\": 2, \"digest\": \"\(digest)\"}")
        #expect(run.engine.report().map(\.place.description) == ["\"wiretape.yaml\" line 2", "\"wiretape.yaml\" line 3"])
        _ = try run.change("remove", #""rule": 1"#)
        #expect(try self.after(run) == "modify:\n  - block: 403\n")
    }
}
