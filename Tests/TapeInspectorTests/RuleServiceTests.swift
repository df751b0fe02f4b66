import CassetteModel
import TapeBytes
@testable import TapeInspector
import TapeTestSupport
import Testing
@testable import TrafficRules

@Suite struct RuleServiceTests {
    private static let two = """
        modify:
          - name: ads
            when: "~d ads.example"
            block: 403
          - when: "~u /pets"
            fault: { status: 503, first: 1 }
        """

    private func pass(_ run: TrafficRun, _ url: String) { _ = run.engine.plan(for: RequestFacts(method: "GET", url: url), now: .zero) }

    @Test func listHasCountsDrawsNotesAndRulesThatNeverMatched() throws {
        let run = try TrafficRun(Self.two)
        let before = try run.ask("state").json["traffic"]
        for _ in 0..<2 { self.pass(run, "http://a/pets") }
        let list = try run.ask("modify")
        let rules = try #require(list.json["rules"]).elements.map { $0 }
        #expect(list.status == 200 && rules.map { $0["name"]?.string } == ["ads", "rule 2"])
        #expect(rules.map { $0["matched"]?.int } == [0, 2] && rules.map { $0["applied"]?.int } == [0, 1])
        #expect(rules.map { $0["neverMatched"]?.bool } == [true, false] && rules.map { $0["draw"]?.string } == [nil, "first 1"])
        #expect(rules.map { $0["line"]?.int } == [2, 5] && rules[0]["file"]?.string == "wiretape.yaml")
        // The page knows by the state that there is something new.
        let after = try run.ask("state").json["traffic"]
        #expect(before?["activity"]?.int != after?["activity"]?.int && before?["list"]?.int == after?["list"]?.int)
        #expect(try TrafficRun().ask("modify").json["rules"]?.elements.map { $0 }.isEmpty == true)
    }

    @Test func runsWithoutRulesHaveNoRoutes() throws {
        let folder = try TemporaryFolder()
        try RecordedExchanges.write([.sample(1)], to: folder.file("pets.json"))
        let service = InspectorService(cassette: try InspectedCassette(path: folder.file("pets.json")))
        for path in ["/api/modify", "/api/modify/yaml", "/api/paused", "/api/paused/1"] {
            guard case .whole(let answer) = service.answer(.init(method: "GET", path: path, query: "", body: [])) else {
                throw TestProblem("a stream")
            }
            #expect(answer.status == 404, "\(path)")
        }
    }

    @Test func rulesAreAddedReplacedSwitchedMovedAndRemoved() throws {
        let run = try TrafficRun(Self.two)
        self.pass(run, "http://a/pets")
        #expect(try run.change("add", #""text": "- pace: { latency: 1s }""#).status == 200)
        #expect(try run.change("add", #""at": 1, "text": "{\"when\": \"~m PUT\", \"block\": \"reset\"}""#).status == 200)
        #expect(run.names == ["rule 4", "ads", "rule 2", "rule 3"], "no name is given twice")
        #expect(try run.change("switch", #""rule": 3, "enabled": false"#).status == 200)
        #expect(run.engine.plan(for: RequestFacts(method: "GET", url: "http://a/pets"), now: .zero)?.fault == nil)
        #expect(try run.change("switch", #""rule": 3, "enabled": true"#).status == 200)
        #expect(try run.change("move", #""rule": 3, "to": 1"#).status == 200)
        #expect(run.names == ["rule 2", "rule 4", "ads", "rule 3"])
        // Counts stay with rules that stay as they were.
        #expect(run.engine.report()[0].matched == 1)
        let replaced = try run.change("replace", #""rule": 1, "text": "when: ~u /dogs\nblock: close""#)
        #expect(replaced.status == 200 && run.names[0] == "rule 2" && run.engine.report()[0].matched == 0)
        #expect(replaced.json["rules"]?.elements.map { $0["line"]?.int }.first == 5, "it is reported where the old one was")
        #expect(try run.change("remove", #""rule": 2"#).status == 200)
        #expect(run.names == ["rule 2", "ads", "rule 3"])
        let text = try run.ask("modify/2?list=\(run.engine.list)").json["text"]?.string
        #expect(text == "- name: ads\n  when: \"~d ads.example\"\n  block: 403\n")
        #expect(try run.ask("modify/yaml").json["text"]?.string?.hasPrefix("modify:\n  - when: \"~u /dogs\"\n    block: close\n") == true)
    }

    @Test(arguments: [
        (#""text": "block: 4031""#, "line 1: \"block\" is \"4031\""),
        (#""text": "- name: x\n  blok: 403""#, "line 2: a rule has no \"blok\"; did you mean \"block\"?"),
        (#""text": "- name: x\n  when: ~c 200\n  block: 403""#, "line 2: when: \"~c\" is about the answer"),
        (#""text": "block: [403""#, "line 2: "),
        (#""text": "name: ads\nblock: 403""#, "is called \"ads\", too"),
        (#""text": """#, "there is no rule"),
        (#""text": "mapLocal: /etc/passwd""#, "these rules have no folder"),
        (#""text": "respond: { file: ../x }""#, "file"),
        (#""text": 5"#, "\"text\" is not a string"), (#""at": 1"#, "\"text\" takes a rule"),
    ])
    func badTextsAreRefusedInTheParsersWords(members: String, words: String) throws {
        let run = try TrafficRun(Self.two)
        let answer = try run.change("add", members)
        #expect(answer.status == 400 && answer.json.message.contains(words), "\(answer.json.message)")
        #expect(run.names == ["ads", "rule 2"] && run.engine.list == 1)
    }

    @Test func badOrdersAreRefused() throws {
        let run = try TrafficRun(Self.two)
        for (change, members) in [
            ("replace", #""rule": 3, "text": "block: 403""#), ("replace", #""rule": 1, "text": "- block: 403\n- block: 404""#),
            ("switch", #""rule": 1"#), ("switch", #""rule": 0, "enabled": true"#), ("move", #""rule": 1, "to": 9"#), ("remove", #""x": 1"#),
        ] {
            #expect(try run.change(change, members).status == 400, "\(change) \(members)")
        }
        #expect(try run.ask("modify/add", #"{"text": "block: 403"}"#).status == 400, "it must name the list")
        #expect(try run.ask("modify/add", "nonsense").status == 400)
        #expect(try run.ask("modify/add").status == 405 && run.ask("modify", "{}").status == 405)
        #expect(try run.ask("modify/3?list=1").status == 404 && run.ask("modify/x?list=1").status == 404)
        #expect(run.names == ["ads", "rule 2"] && run.engine.list == 1)
    }

    @Test func aStalePageChangesNothing() throws {
        let run = try TrafficRun(Self.two)
        #expect(try run.ask("modify/remove", #"{"list": 1, "rule": 1}"#).status == 200)
        for (change, members) in [
            ("add", #""text": "block: 403""#), ("replace", #""rule": 1, "text": "block: 403""#),
            ("switch", #""rule": 1, "enabled": false"#),
            ("move", #""rule": 1, "to": 1"#), ("remove", #""rule": 1"#), ("save", #""digest": "x""#),
        ] {
            let answer = try run.ask("modify/\(change)", "{\"list\": 1, \(members)}")
            #expect(answer.status == 409 && answer.json.code == "stale", "\(change)")
        }
        #expect(try run.ask("modify/1?list=1").status == 409)
        #expect(run.names == ["rule 2"] && run.engine.list == 2)
    }

    @Test func pagesCannotFillTheMemory() throws {
        let run = try TrafficRun()
        let text = String(repeating: "x", count: InspectedRules.textLimit)
        #expect(try run.change("add", "\"text\": \"respond: { body: '\(text)' }\"").status == 413)
        func member(_ name: String, _ content: RuleNode.Content) -> RuleNode.Content {
            .members([RuleNode.Member(name: name, line: 1, value: RuleNode(line: 1, content: content))])
        }
        let body = String(repeating: "x", count: 16 << 20)
        let node = RuleNode(line: 1, content: member("respond", member("body", .text(body))))
        let list = RuleNode(line: 1, content: .list(Array(repeating: node, count: 4)))
        run.engine.replace(try TrafficRules([RuleList(node: list, file: "wiretape.yaml", folder: nil)]))
        #expect(try run.change("add", #""text": "block: 403""#).status == 413)
        #expect(try run.change("remove", #""rule": 1"#).status == 200 && run.change("add", #""text": "block: 403""#).status == 200)
    }

    @Test func aNewVersionOfARuleKeepsItsFileAndChoosesNone() throws {
        let run = try TrafficRun("modify:\n  - mapLocal: site/a.json\n")
        let same = try run.change("replace", #""rule": 1, "text": "when: ~u /a\nmapLocal: site/a.json""#)
        #expect(same.status == 200, "\(same.json.message)")
        #expect(run.engine.rules.rules[0].folder == "/folder")
        #expect(try run.change("replace", #""rule": 1, "text": "mapLocal: site/b.json""#).status == 400)
        #expect(try run.change("replace", #""rule": 1, "text": "respond: { file: site/b.json }""#).status == 400)
        #expect(try run.change("add", #""text": "mapLocal: site/a.json""#).status == 400)
    }

    // MARK: Trials and proposals

    private static let exchange: Interaction = .sample(1, at: 0, "GET", "http://a/pets?token={{token:1}}")

    @Test func aTrialSaysWhichPartDoesNotHoldAndWhoCameBefore() throws {
        let run = try TrafficRun(
            """
            modify:
              - when: "~m POST & ~u /pets"
                block: 403
              - name: first
                when: "~u /pets"
                respond: { status: 201, body: hello }
              - respond: { status: 202 }
              - { enabled: false, block: 404 }
              - fault: { status: 503, nth: [2] }
              - request: { set: { "header:x-env": test } }
            """)
        let found = try run.ask("modify/try", #"{"key": 1}"#)
        let rules = try #require(found.json["rules"]).elements.map { $0 }
        #expect(rules.map { $0["outcome"]?.string } == ["unmatched", "applies", "preceded", "off", "not-drawn", "applies"])
        #expect(rules[0]["words"]?.string == "does not match: ~m POST does not hold")
        #expect(rules[2]["words"]?.string == "matches, but \"first\" comes first")
        #expect(found.json["answer"]?["after"]?.string?.hasPrefix("201 Created\n") == true)
        #expect(found.json["answer"]?["after"]?.string?.hasSuffix("\n\nhello") == true)
        #expect(run.engine.report().allSatisfy { $0.matched == 0 }, "a trial counts nothing")
    }

    @Test func aTrialShowsEditsAndTriesTextsBeforeTheyAreAdded() throws {
        let run = try TrafficRun()
        let text = #""text": "request: { set: { 'header:x-env': test, 'query:page': 2 } }""#
        let found = try run.ask("modify/try", "{\"key\": 1, \(text)}").json
        let request = try #require(found["request"])
        #expect(request["before"]?.string?.contains("x-env") == false && request["after"]?.string?.contains("x-env: test") == true)
        #expect(request["after"]?.string?.hasPrefix("GET http://a/pets?page=2\n") == true)
        #expect(run.engine.rules.isEmpty)
        let faulty = try run.ask("modify/try", #"{"key": 1, "text": "fault: { kind: stall, for: 2s }"}"#).json
        #expect(faulty["effects"]?.elements.map(\.string) == ["The answer stalls (\"rule 1\")."] && faulty["answer"] == nil)
        for body in [#"{"key": 9}"#, "{}", #"{"key": 1, "text": "blok: 1"}"#] {
            #expect(try run.ask("modify/try", body).status == 400, "\(body)")
        }
    }

    @Test(arguments: ["block", "respond", "fault", "pace", "pause", "edit"])
    func aProposalIsARuleForSuchExchanges(action: String) throws {
        let run = try TrafficRun(interactions: [Self.exchange])
        let text = try #require(try run.ask("modify/from", "{\"key\": 1, \"action\": \"\(action)\"}").json["text"]?.string)
        var writer = JSONWriter()
        writer.string(text)
        let added = try run.change("add", "\"text\": \(String(decoding: writer.bytes, as: UTF8.self))")
        #expect(added.status == 200, "\(text): \(added.json.message)")
        // What was redacted may be anything, and other URLs do not match.
        let plan = run.engine.plan(for: RequestFacts(method: "GET", url: "http://a/pets?token=s3cr3t"), now: .zero)
        #expect(plan?.names == ["\(action) GET /pets"])
        for url in ["http://a/pets?token=s3cr3t&more=1", "http://a/petsXtoken=s3cr3t", "http://a/pets"] {
            #expect(run.engine.plan(for: RequestFacts(method: "GET", url: url), now: .zero) == nil, "\(url)")
        }
        #expect(try run.ask("modify/from", #"{"key": 1, "action": "explode"}"#).status == 400)
        #expect(try run.ask("modify/from", #"{"key": 2, "action": "block"}"#).status == 400)
    }

    @Test(arguments: [
        "{\"pets\": [1, 2],\n  \"more\": \"# no comment\"}\n", "  begins with spaces\nand goes on, so that it is long enough for a block\n",
        String(repeating: "one long line ", count: 9), "line\r\nend\r\n" + String(repeating: "x", count: 90),
        "a\n\n\n" + String(repeating: "x", count: 90) + "\n\n", "{{method}} " + String(repeating: "보리 ", count: 30), "",
        "tab\tand: colon # hash\n'quotes' \"both\"\n" + String(repeating: "x", count: 60),
    ])
    func aProposedAnswerHasTheRecordedBodyByteForByte(body: String) throws {
        let node = try SampleYAML.node(
            try ExchangeRule(method: "GET", url: "http://a/").text(
                .respond,
                answer: .init(
                    status: 200, reason: "Fine", headers: HeaderFields(["A: 1", "a: 2", "Content-Length: 9"]), body: Array(body.utf8)),
                besides: []))
        let engine = RuleEngine(try TrafficRules([RuleList(node: node, file: "x", folder: nil)]))
        let answer = try #require(engine.plan(for: RequestFacts(method: "GET", url: "http://a/"), now: .zero)?.answer)
        #expect(String(decoding: answer.body, as: UTF8.self) == body && answer.reason == "Fine")
        #expect(answer.headers.values("a") == ["1", "2"] && answer.headers.values("content-length") == ["\(body.utf8.count)"])
    }

    @Test func theVerdictIsListedIfTheRunAskedForIt() throws {
        #expect(try TrafficRun().ask("modify/verdict").status == 404)
        let attempts = (0..<3).map { number in
            ClientVerdict.Attempt(
                start: .milliseconds(number * 10), end: .milliseconds(number * 10 + 1), method: "GET", redactedURL: "http://a/",
                outcome: .answer(503))
        }
        let verdict = ClientVerdict(attempts, run: .init(end: .seconds(1)))
        let found = try TrafficRun(findings: verdict.findings).ask("modify/verdict").json["findings"]
        #expect(found?.elements.map { $0["kind"]?.string }.contains("no-backoff") == true)
        #expect(found?.elements.map { $0["requests"]?.elements.map(\.int) }.first { _ in true } == [1, 2, 3])
    }
}
