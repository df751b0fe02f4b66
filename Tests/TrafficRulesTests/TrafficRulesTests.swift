import TapeBytes
import Testing
@testable import TrafficRules

@Suite struct TrafficRulesTests {
    /// The list of the design, but for its files.
    private static let example = #"""
        - when: "~d ads.example.com"
          block: 403
        - name: staging
          when: "~u ^https://api\\.example\\.com/v2/"
          mapRemote: http://127.0.0.1:3000/v2/
        - when: "~m POST & ~u /rpc"
          respond: { status: 200, json: { "id": "{{json:/id}}", "result": [] } }
        - when: "~d api.example.com"
          request:  { set: { "header:x-env": test }, remove: ["query:debug"] }
          response: { status: 503, set: { "json:/flags/beta": true }, replace: [{ in: body, match: "prod", with: "test" }] }
        - when: "~d api.example.com"
          pace: { latency: 200ms, jitter: 50ms, down: 1.5Mbit, up: 500kbit, each: connection }
        - when: "~u /upload"
          fault: { kind: reset, after: 64KiB, share: 5% }
        - when: "~m POST & ~u /pay"
          fault: { status: 429, retryAfter: 2s, first: 2 }
        - when: "~u /stream"
          fault: { kind: stall, after: 3 events, for: 20s, nth: [1, 3] }
        - when: "~u /checkout"
          pause: request
        """#

    @Test func rulesHaveNamesKindsAndPlaces() throws {
        let rules = try RulesText.rules(Self.example).rules
        #expect(rules.map(\.name) == ["rule 1", "staging", "rule 3", "rule 4", "rule 5", "rule 6", "rule 7", "rule 8", "rule 9"])
        #expect(rules.map(\.kind) == [.block, .mapRemote, .respond, .edit, .pace, .fault, .fault, .fault, .pause])
        #expect(rules.map(\.place.line) == [1, 3, 6, 8, 11, 13, 15, 17, 19])
        #expect(rules[0].condition == "~d ads.example.com")
        #expect(rules[1].place.description == "\"wiretape.yaml\" line 3")
    }

    @Test func listsFollowEachOther() throws {
        let one = RuleList(node: try RulesText.node("- block: 403"), file: "one.yaml", folder: nil)
        let two = RuleList(node: try RulesText.node("- block: 404\n- name: rule 1\n  block: 405"), file: "two.yaml", folder: nil)
        #expect(
            throws: SettingSyntaxError(
                "\"two.yaml\" line 2: another rule, of \"one.yaml\" line 1, is called \"rule 1\", too: rename one of them")
        ) {
            try TrafficRules([one, two])
        }
        let three = RuleList(node: try RulesText.node("{ seed: 7, rules: [{ block: 404 }] }"), file: "three.yaml", folder: nil)
        let rules = try TrafficRules([one, three])
        #expect(rules.rules.map(\.name) == ["rule 1", "rule 2"])
        #expect(rules.rules.map(\.seed) == [nil, 7])
    }

    @Test(arguments: ["", "null", "[]"])
    func noRulesAreNoError(yaml: String) throws {
        #expect(try RulesText.rules(yaml).isEmpty)
    }

    @Test(arguments: [
        // The list
        ("text", "line 1: \"modify\" needs a list of rules"),
        ("when: ~all\nblock: 403", "line 1: \"modify\" needs a list of rules; write \"- \" before \"when\""),
        ("- blok: 403", "line 1: a rule has no \"blok\"; did you mean \"block\"?"),
        ("- surprise: 403", "a rule has no \"surprise\"; write one of name, when"),
        ("- block", "a rule needs members"),
        ("- name: a", "the rule does nothing: add one of block, mapRemote"),
        ("- block: 403\n  pause: request", "line 2: the rule has both \"block\" and \"pause\": write two rules"),
        ("- block: 403\n  block: 404", "line 2: \"block\" appears twice"),
        ("- name: \"a\\nb\"\n  block: 403", "\"name\" needs from 1 to 100 characters on one line"),
        ("- enabled: perhaps\n  block: 403", "write true or false"),
        ("- record: true\n  block: reset", "line 1: \"record\" is for answers, and \"block: reset\" gives none"),
        ("- record: true\n  pace: dsl", "\"record\" is for \"block\", \"mapLocal\" and \"respond\""),
        // when
        ("- when: \"~c 500\"\n  block: 403", "when: \"~c\" is about the answer"),
        ("- when: \"~u /a & ! ~s\"\n  block: 403", "when: \"~s\" is about the answer"),
        ("- when: \"~bs a | ~m GET\"\n  block: 403", "when: \"~bs\" is about the answer"),
        ("- when: \"~dst 10.0.0.1\"\n  block: 403", "use \"~d\" for the host"),
        ("- when: \"~u (\"\n  block: 403", "line 1: when \"~u (\""),
        ("- when: \"~u a(b\"\n  block: 403", "when \"~u a(b\""),
        ("- when: \"~nothing\"\n  block: 403", "there is no condition \"~nothing\""),
        // block
        ("- block: 99", "\"block\" is \"99\"; write a status from 200 to 599, close or reset"),
        ("- block: [403]", "\"block\" needs a text"),
        // mapRemote
        ("- mapRemote: ftp://a.example/", "which is not a URL with http or https"),
        ("- mapRemote: https://user:pw@a.example/", "mapRemote"),
        ("- mapRemote: https://a.example/#top", "which has a fragment"),
        ("- mapRemote: https://a.example/?a=1", "which has a query"),
        ("- mapRemote: https://a.example:99999/", "mapRemote"),
        ("- when: \"~u .*\"\n  mapRemote: https://a.example/", "cannot tell what of the URL"),
        // mapLocal
        ("- mapLocal: a.json", "these rules have no folder"),
        // respond
        ("- respond: {}", "\"respond\" is empty"),
        ("- respond: { status: 600 }", "\"status\" of \"respond\" is \"600\"; write a whole number from 100 to 599"),
        ("- respond: { status: 101 }", "is not a final answer"),
        ("- respond: { status: 204, body: a }", "an answer 204 has no body"),
        ("- respond: { body: a, json: {} }", "has both \"json\" and \"body\""),
        ("- respond: { body: \"{{json:/id\" }", "\"{{\" has no \"}}\" after it"),
        ("- respond: { json: { a: \"{{cookie}}\" } }", "\"{{cookie}}\" is no value of the request"),
        ("- respond: { json: { a: \"{{json:/a/*}}\" } }", "is no value of the request"),
        ("- respond: { base64: \"%\" }", "is not base64"),
        ("- respond: { headers: { \"a b\": c } }", "cannot be the name of a header field"),
        ("- respond: { headers: { content-length: 3 } }", "says where a message ends"),
        ("- respond: { headers: { a: \"b\\r\\nc: d\" } }", "has a line end"),
        ("- respond: { file: a.json }", "these rules have no folder"),
        // edits
        ("- request: {}", "\"request\" is empty"),
        ("- request: { status: 503 }", "\"request\" has no \"status\""),
        ("- request: { set: { status: 503 } }", "is of the response, and this edits the request"),
        ("- response: { set: { \"query:a\": b } }", "is of the request, and this edits the response"),
        ("- response: { set: { \"cookie:a\": b } }", "is not a place"),
        ("- response: { set: { \"json:a\": b } }", "does not begin with a slash"),
        ("- response: { set: { \"grpc:/1\": b } }", "fields of gRPC messages cannot be edited"),
        ("- request: { set: { host: b } }", "use \"mapRemote\""),
        ("- request: { set: { \"header:content-length\": b } }", "says where a message ends"),
        ("- response: { status: 99 }", "\"status\" is \"99\"; write a whole number from 200 to 599"),
        ("- response: { remove: [status] }", "\"status\" cannot be removed"),
        ("- response: { replace: { in: body, match: \"(\", with: a } }", "pattern \"(\" at character 1"),
        ("- response: { replace: { in: body, match: \"(?=a)\", with: a } }", "lookaround is not"),
        ("- response: { replace: { in: body, match: \"a\", with: $1 } }", "names the group $1, and \"match\" has 0"),
        ("- response: { replace: { in: body, match: \"a\", with: \"$x\" } }", "write $1 for the first group, or $$"),
        ("- response: { replace: { in: body, match: \"a\" } }", "\"replace\" needs \"in\", \"match\" and \"with\""),
        // pace
        ("- pace: {}", "\"pace\" is empty"),
        ("- pace: { latency: 200 }", "write a time with its unit"),
        ("- pace: { latency: 2h }", "is longer than 3600s"),
        ("- pace: { jitter: 5ms }", "\"jitter\" needs a latency: write for example { latency: 200ms, jitter: 50ms }"),
        (
            "- request: { set: { \"hdr:x\": 1 } }",
            "\"hdr:x\" is not a place in the request; write method, url, path, query, query:NAME, header:NAME, body, json:/POINTER, form:NAME, xml:/PATH, part:NAME or filename:NAME"
        ),
        (
            "- response: { remove: [cookie] }",
            "\"cookie\" is not a place in the response; write status, reason, header:NAME, body, json:/POINTER"
        ),
        ("- request: { set: { \"json:a\": 1 } }", "does not begin with a slash"),
        ("- request: { set: { \"header:\": 1 } }", "\"header:\" lacks a name"),
        ("- pace: { latency: 1s, jitter: 2s }", "\"jitter\" is greater than the latency"),
        ("- pace: { down: 500 }", "write a rate with its unit"),
        ("- pace: { down: 1bit }", "slower than a byte a second"),
        ("- pace: { each: planet, down: 1Mbit }", "\"each\" of \"pace\" is \"planet\""),
        ("- pace: slow3g", "did you mean \"slow-3g\"?"),
        ("- pace: { lognormal: { median: 1s, sigma: 0.5 }, latency: 1s }", "\"lognormal\" replaces"),
        ("- pace: { lognormal: { median: 1s } }", "needs \"median\" and \"sigma\""),
        // faults
        ("- fault: {}", "\"fault\" needs \"kind\" or \"status\""),
        ("- fault: { kind: rest }", "there is no fault \"rest\"; did you mean \"reset\"?"),
        ("- fault: { status: 503, kind: reset }", "has both the kind \"reset\" and \"status\""),
        ("- fault: { status: 503, share: 101% }", "write a percentage from 0% to 100%"),
        ("- fault: { status: 503, share: 0.5 }", "write a percentage from 0% to 100%"),
        ("- fault: { status: 503, first: 0 }", "write a whole number from 1 to"),
        ("- fault: { status: 503, nth: [] }", "\"nth\" needs from 1 to"),
        ("- fault: { status: 503, after: 64KiB }", "comes in place of the answer"),
        ("- fault: { kind: reset, after: 64 }", "write where the fault comes"),
        ("- fault: { kind: reset, after: 101% }", "write where the fault comes"),
        ("- fault: { kind: reset, after: 3 events, in: head }", "does not go with \"in: head\""),
        ("- fault: { kind: drop, after: 64KiB }", "is for events and messages"),
        ("- fault: { kind: stall }", "needs \"for\""),
        ("- fault: { kind: reset, retryAfter: 2s }", "\"retryAfter\" is not for a fault of kind \"reset\""),
        ("- fault: { kind: close, code: 1006 }", "is never sent in a close frame"),
        ("- fault: { kind: reset, code: NOPE }", "HTTP/2 has no error code \"NOPE\""),
        ("- fault: { grpc: GONE }", "gRPC has no status \"GONE\""),
        ("- fault: { status: 429, quota: { limit: 1 } }", "\"quota\" needs \"limit\" and \"window\""),
        ("- fault: { status: 429, quota: { limit: 1, window: 1s, by: cookie } }", "write a place in the request"),
        ("- share: 5%\n  fault: { status: 503, share: 5% }", "\"share\" appears in the rule and in its action"),
        ("- pause: everything", "write request, response, both, events, messages"),
    ])
    func badRulesSayWhatToWrite(yaml: String, expected: String) throws {
        let problem = try #require(try RulesText.problem(yaml), "no error for \(yaml)")
        #expect(problem.contains(expected), "\(problem)")
        #expect(problem.hasPrefix("\"wiretape.yaml\" line "))
    }

    /// As a program writes JSON.
    @Test(arguments: [
        ("[{ block: 403 }, { blok: 403 }]", "\"wiretape.yaml\" rule 2: a rule has no \"blok\"; did you mean \"block\"?"),
        ("[{ block: 403 }, { name: pay, block: 999 }]", "\"wiretape.yaml\" rule 2 (\"pay\"): \"block\" is \"999\"; write a status"),
        ("[{ name: a, block: 403 }, { name: a, block: 403 }]", "\"wiretape.yaml\" rule 2 (\"a\"): another rule"),
        ("- { block: 403 }\n- { blok: 403 }", "\"wiretape.yaml\" line 2: a rule has no \"blok\""),
        ("[{ blok: 403 }]", "\"wiretape.yaml\" line 1: a rule has no \"blok\""),
    ]) func aRuleOnALineWithOthersIsNamed(yaml: String, problem: String) throws {
        let found = try RulesText.problem(yaml)
        #expect(found?.hasPrefix(problem) == true, "\(found ?? "it is read")")
    }

    @Test func moreThanAThousandRulesAreRefused() throws {
        let many = String(repeating: "- block: 403\n", count: 1000)
        #expect(try RulesText.rules(many).rules.count == 1000)
        #expect(
            try RulesText.problem(many + "- block: 403\n")
                == "\"wiretape.yaml\" line 1001: there are more than 1000 rules; remove some, or put a server behind \"mapRemote\"")
    }

    @Test func longBodiesAreRefused() throws {
        let body = String(repeating: "a", count: 16 << 20)
        let node = { (body: String) in
            RuleNode(
                line: 1,
                content: .list([
                    RuleNode(
                        line: 1,
                        content: .members([
                            .init(
                                name: "respond", line: 1,
                                value: RuleNode(
                                    line: 2,
                                    content: .members([.init(name: "body", line: 2, value: RuleNode(line: 2, content: .text(body)))])))
                        ]))
                ]))
        }
        _ = try TrafficRules([RuleList(node: node(body), file: "a.yaml", folder: nil)])
        #expect(
            throws: SettingSyntaxError(
                "\"a.yaml\" line 2: the body of \"respond\" is longer than 16 MiB; use \"mapRemote\" to a server that has it")
        ) {
            try TrafficRules([RuleList(node: node(body + "a"), file: "a.yaml", folder: nil)])
        }
    }

    @Test func bodiesAreNeededOnlyWhereARuleThatMayApplyLooksAtThem() throws {
        let rules = try RulesText.rules(
            """
            - when: "~u /a & ~b secret"
              block: 403
            - when: "~u /b"
              fault: { status: 503, share: 5% }
            - when: "~u /c"
              respond: { body: "{{header:x}}" }
            - when: "~u /d & (~b x | ~m GET)"
              block: 403
            - when: "~u /e"
              enabled: false
              fault: { status: 503, share: 5% }
            """)
        #expect(rules.needsBody)
        #expect(rules.needsBody(.get("http://h.test/a")))
        #expect(rules.needsBody(.get("http://h.test/b")))
        #expect(!rules.needsBody(.get("http://h.test/c")))
        #expect(!rules.needsBody(.get("http://h.test/d")))
        #expect(rules.needsBody(.post("http://h.test/d", "")))
        #expect(!rules.needsBody(.get("http://h.test/e")))
        #expect(try !RulesText.rules("- block: 403").needsBody)
    }
}
