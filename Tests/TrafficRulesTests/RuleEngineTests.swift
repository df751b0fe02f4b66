import CassetteModel
import CassettePlayback
import TapeBytes
import Testing
@testable import TrafficRules

@Suite struct RuleEngineTests {
    private static let url = "https://api.example.com/v2/pets?x=1"

    private func plan(_ yaml: String, _ request: RequestFacts = .get(url)) throws -> ExchangePlan? {
        try RulesText.engine(yaml).plan(for: request, now: .zero)
    }

    @Test func requestThatNoRuleMatchesHasNoPlan() throws {
        #expect(try self.plan("") == nil)
        #expect(try self.plan("- when: \"~u /other\"\n  block: 403") == nil)
        #expect(try self.plan("- enabled: false\n  block: 403") == nil)
    }

    @Test(arguments: [
        ("~m get", true), ("~m POST", false), ("~u /v2/pets", true), ("/v2", true), ("~d api.example.com", true), ("~d other", false),
        ("~hq \"^accept: text\"", true), ("~h nothing", false), ("~b a", false), ("~all", true), ("~http", true), ("~hv 1.1", true),
        ("~hv 2", false), ("~websocket", false), ("! ~m POST & (~u pets | ~u dogs)", true), ("~t json", false),
    ])
    func conditionsAreAboutTheRequest(when: String, holds: Bool) throws {
        let text = when.replacing("\"", with: "\\\"")
        let plan = try self.plan("- when: \"\(text)\"\n  block: 403", .get(Self.url, ["Host: api.example.com", "Accept: text/html"]))
        #expect((plan != nil) == holds)
    }

    @Test func bodiesAreSearchedWithoutTheirCodings() throws {
        // "{"secret":1}" in gzip
        let coded = try #require(Base64.decode(Array("H4sIAAAAAAACA6tWKk5NLkotUbIyrAUAj5yhQQwAAAA=".utf8)))
        var request = RequestFacts(
            method: "POST", url: Self.url, headers: HeaderFields(["Content-Encoding: gzip", "Content-Type: application/json"]), body: coded)
        #expect(try self.plan("- when: \"~b secret\"\n  block: 403", request)?.block == .status(403))
        #expect(try self.plan("- when: \"~bq public\"\n  block: 403", request) == nil)
        request.body = nil
        #expect(try self.plan("- when: \"~b secret\"\n  block: 403", request) == nil)
    }

    /// A run asks about the tunnel before there is a request.
    @Test(arguments: [
        ("~u /pets", false), ("~u ^https://api.example.com:443/", true), ("~u ^https://api.example.com:443/$", true), ("~d api", true),
        ("~d other", false),
    ])
    func faultsOfTLSAreAboutTheTunnel(when: String, holds: Bool) throws {
        let rules = "- when: \"\(when)\"\n  fault: tls"
        let tunnel = RequestFacts(method: "CONNECT", url: "https://api.example.com:443/")
        #expect((try RulesText.engine(rules).tlsFault(for: tunnel, now: .zero) != nil) == holds)
        #expect((try self.plan(rules) != nil) == holds)
        let trial = try RulesText.engine(rules).trial(of: .get(Self.url))
        #expect(trial.trials.map(\.outcome) == [holds ? .applies : .unmatched(when)])
    }

    @Test func faultsOfTLSSeeTheTunnelOfOtherPortsAndAddresses() throws {
        let rules = "- when: ~u ^https://\\[::1]:8443/$\n  fault: tls"
        #expect(try self.plan(rules, .get("https://[::1]:8443/a"))?.fault != nil)
        #expect(try self.plan("- when: ~u ^https://\\[::1]:443/$\n  fault: tls", .get("https://[::1]/a"))?.fault != nil)
        // Without TLS there is no handshake.
        #expect(try self.plan("- when: ~d other\n  fault: tls", .get("http://api.example.com/")) == nil)
    }

    @Test func requestsThatTheMatchRulesFindEqualHaveOneFingerprint() throws {
        let match = try MatchRules.standard.adding(MatchRuleTexts(ignore: ["query:ts", "json:/id"]))
        let engine = RuleEngine(TrafficRules(), match: match) { DrawnURL.of($0) }
        func print(_ url: String, _ body: String) -> [UInt8] { engine.fingerprint(of: .post(url, body)) }
        let one = print("https://u:p@a.example/?ts=1&token=secret", #"{"id": 1, "a": 1}"#)
        #expect(one == print("https://a.example/?ts=2&token=other", #"{"a": 1, "id": 2}"#))
        #expect(one != print("https://a.example/?ts=2&token=other", #"{"a": 2, "id": 1}"#))
        #expect(one != print("https://a.example/b?ts=1&token=secret", #"{"id": 1, "a": 1}"#))
    }

    /// What `--redact` names is new in each run, and nothing that matching does not know is an error.
    @Test func redactedPlacesMakeNoOtherRequest() {
        let match = MatchRules.standard.drawing(redacted: ["query:pin", "json:/key", "header:x-token", "no place at all"])
        let engine = RuleEngine(TrafficRules(), match: match) { DrawnURL.of($0) }
        func print(_ url: String, _ body: String) -> [UInt8] { engine.fingerprint(of: .post(url, body)) }
        let one = print("https://a.example/?pin=1", #"{"key": 1, "a": 1}"#)
        #expect(one == print("https://a.example/?pin=2", #"{"key": 2, "a": 1}"#))
        #expect(one != print("https://a.example/?pin=1", #"{"key": 1, "a": 2}"#))
    }

    @Test func effectsHaveAFixedOrderAndTheFirstOfAKindWins() throws {
        let plan = try #require(
            try self.plan(
                """
                - name: late
                  fault: timeout
                - name: never
                  fault: close
                - name: pause
                  pause: both
                - name: second answer
                  respond: { body: two }
                  enabled: false
                - name: answer
                  respond: { status: 201, body: one }
                  record: true
                - name: third answer
                  respond: { body: three }
                - name: slow
                  pace: { latency: 100ms, down: 8kbit }
                - name: slower
                  pace: { latency: 200ms, up: 16kbit, each: host, burst: 2kB }
                - name: edit
                  request: { set: { "header:a": b } }
                - name: map
                  mapRemote: http://127.0.0.1:3000/base
                - name: edit again
                  request: { set: { "header:c": d } }
                  response: { status: 500 }
                """))
        #expect(plan.names == ["map", "edit", "edit again", "pause", "answer", "slow", "slower", "late"])
        #expect(plan.rules == [9, 8, 10, 2, 4, 6, 7, 0])
        #expect(plan.target == MappedTarget(url: "http://127.0.0.1:3000/base/v2/pets?x=1", rule: 9))
        #expect(plan.answer?.status == 201)
        #expect(plan.answer?.body == Array("one".utf8))
        #expect(plan.records)
        #expect(plan.pace?.latency == .milliseconds(300))
        #expect(plan.pace?.down == [TokenRate(bytesPerSecond: 1000, burst: 1460, scope: .request, rule: 6)])
        #expect(plan.pace?.up == [TokenRate(bytesPerSecond: 2000, burst: 2000, scope: .host("api.example.com"), rule: 7)])
        #expect(plan.pausesRequest == Pause(rule: 2, wait: .seconds(30)))
        #expect(plan.pausesResponse == Pause(rule: 2, wait: .seconds(30)))
        #expect(plan.fault?.kind == .timeout)
        #expect(plan.requestEdit?.steps.map(\.rule) == [8, 10])
        #expect(plan.responseEdit?.steps.map(\.rule) == [10])
    }

    @Test func aBlockEndsThePlan() throws {
        let engine = try RulesText.engine("- fault: timeout\n- block: reset\n- block: 403")
        let plan = try #require(engine.plan(for: .get(Self.url), now: .zero))
        #expect(plan.names == ["rule 2"])
        #expect(plan.block == .reset)
        #expect(plan.fault == nil)
        #expect(engine.report().map(\.applied) == [0, 1, 0])
        #expect(engine.report().map(\.preceded) == [1, 0, 1])
        #expect(engine.report().map(\.neverMatched) == [false, false, false])
    }

    // MARK: Numbers

    private func applies(_ engine: RuleEngine, _ request: RequestFacts = .get(url), now: Duration = .zero) -> Bool {
        engine.plan(for: request, now: now)?.rules.isEmpty == false
    }

    @Test(arguments: [
        ("first: 2", [true, true, false, false, false, false]), ("nth: [1, 3]", [true, false, true, false, false, false]),
        ("nth: 2", [false, true, false, false, false, false]), ("every: 3", [false, false, true, false, false, true]),
        ("every: 2, first: 2", [false, true, false, false, false, false]), ("share: 0%", [false, false, false, false, false, false]),
        ("share: 100%", [true, true, true, true, true, true]),
    ])
    func equalRequestsAreCounted(conditions: String, expected: [Bool]) throws {
        let engine = try RulesText.engine("- fault: { status: 503, \(conditions) }")
        var outcomes: [Bool] = []
        for number in 0..<6 {
            // Other requests have numbers of their own.
            _ = self.applies(engine, .get("https://other.example/\(number)"))
            _ = self.applies(engine, .post(Self.url, "{\"id\":\(number)}"))
            outcomes.append(self.applies(engine))
        }
        #expect(outcomes == expected)
    }

    @Test func bodiesThatMatchingComparesAsEqualAreEqual() throws {
        let engine = try RulesText.engine("- fault: { status: 503, first: 1 }")
        #expect(self.applies(engine, .post(Self.url, #"{"a":1,"b":[2]}"#)))
        #expect(!self.applies(engine, .post(Self.url, #"{ "b": [2], "a": 1 }"#)))
        #expect(self.applies(engine, .post(Self.url, #"{"a":1,"b":[3]}"#)))
        let part = { (boundary: String, data: String) in
            RequestFacts.post(
                Self.url, "--\(boundary)\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\(data)\r\n--\(boundary)--\r\n",
                type: "multipart/form-data; boundary=\(boundary)")
        }
        let long = String(repeating: "a", count: 100_000)
        for data in ["short", long, long + "b", String(repeating: "a", count: 99_999) + "c"] {
            #expect(self.applies(engine, part("one", data)))
            #expect(!self.applies(engine, part("two", data)))
        }
    }

    @Test func aRuleMayCountAllItsRequests() throws {
        let engine = try RulesText.engine("- fault: { status: 503, first: 2, count: rule }")
        #expect((1...4).map { self.applies(engine, .get("https://a.example/\($0)")) } == [true, true, false, false])
    }

    @Test func redactedURLsTellRequestsApart() throws {
        let engine = RuleEngine(try RulesText.rules("- fault: { status: 503, first: 1 }"), seed: 0) { url in
            String(url.prefix { $0 != "?" })
        }
        #expect(self.applies(engine, .get("https://a.example/?token=1")))
        #expect(!self.applies(engine, .get("https://a.example/?token=2")))
        // Numbers of placeholders are those of a run.
        #expect(self.applies(engine, .get("https://a.example/%7B%7Btoken:1%7D%7D/{{token:1}}")))
        #expect(!self.applies(engine, .get("https://a.example/%7B%7Btoken:1%7D%7D/{{token:2}}")))
    }

    @Test func whatMatchingIgnoresTellsNoRequestsApart() throws {
        let engine = RuleEngine(
            try RulesText.rules("- fault: { status: 503, first: 1 }"), match: try MatchRules(ignore: ["query:ts", "json:/id", "part:id"]))
        #expect(self.applies(engine, .post("https://a.example/?ts=1&a=1", #"{"id": 1, "a": 1}"#)))
        #expect(!self.applies(engine, .post("https://a.example/?a=1&ts=2", #"{"id": 2, "a": 1}"#)))
        #expect(self.applies(engine, .post("https://a.example/?a=1&ts=2", #"{"id": 2, "a": 2}"#)))
    }

    @Test func notesOfAPlanFindTheirRule() throws {
        let engine = try RulesText.engine("- name: a\n  pace: dsl\n- name: b\n  fault: close")
        let plan = try #require(engine.plan(for: .get(Self.url), now: .zero))
        engine.replace(try RulesText.rules("- name: b\n  fault: close"))
        engine.note(plan, rule: 1, "met")
        engine.note(plan, rule: 0, "gone")
        #expect(engine.report().filter { !$0.isRetired }.map(\.notes) == [["met"]])
    }

    @Test func timesAreThoseOfTheRun() throws {
        let engine = try RulesText.engine("- fault: { kind: close, after: 30s, for: 10s }")
        #expect([0, 29, 30, 39, 40].map { self.applies(engine, now: .seconds($0)) } == [false, false, true, true, false])
        let rule = try RulesText.engine("- after: 1s\n  for: 1s\n  fault: { kind: stall, for: 20s, after: 3 events }")
        #expect(!self.applies(rule))
        let fault = try #require(rule.plan(for: .get(Self.url), now: .seconds(1))?.fault)
        #expect(fault.kind == .stall(.seconds(20)))
        #expect(fault.after == .events(3))
        #expect(!self.applies(rule, now: .seconds(2)))
    }

    @Test func aQuotaAnswersWithTheTimeUntilItIsReset() throws {
        let engine = try RulesText.engine("- fault: { quota: { limit: 2, window: 60s, by: header:authorization } }")
        let one = RequestFacts.get(Self.url, ["Authorization: one"])
        let two = RequestFacts.get(Self.url, ["Authorization: two"])
        #expect(!self.applies(engine, one, now: .seconds(10)))
        #expect(!self.applies(engine, one, now: .seconds(11)))
        let fault = try #require(engine.plan(for: one, now: .milliseconds(20_500))?.fault)
        #expect(
            fault.kind
                == .status(
                    429,
                    headers: HeaderFields([
                        "Retry-After: 50", "RateLimit-Limit: 2", "RateLimit-Remaining: 0", "RateLimit-Reset: 50",
                    ])))
        #expect(!self.applies(engine, two, now: .seconds(21)))
        #expect(!self.applies(engine, one, now: .seconds(70)))
        #expect(engine.report().map(\.matched) == [5])
        #expect(engine.report().map(\.drawn) == [1])
    }

    // MARK: Reports

    @Test func countsAreThoseOfTheRun() throws {
        let engine = try RulesText.engine(
            "- name: pay\n  when: \"~u /pay\"\n  fault: { status: 503, first: 1 }\n- when: \"~u /never\"\n  block: 403\n- name: all\n  pace: dsl"
        )
        let plan = try #require(engine.plan(for: .get("https://a.example/pay"), now: .zero))
        for _ in 0..<2 { _ = self.applies(engine, .get("https://a.example/pay")) }
        engine.note(plan, rule: 0, "one")
        engine.note(plan, rule: 0, "one")
        engine.note(plan, rule: 5, "no such rule")
        for number in 0..<30 { engine.note(plan, rule: 2, "note \(number)") }
        let report = engine.report()
        #expect(report.map(\.name) == ["pay", "rule 2", "all"])
        #expect(report.map(\.matched) == [3, 0, 3])
        #expect(report.map(\.drawn) == [1, 0, 3])
        #expect(report.map(\.applied) == [1, 0, 3])
        #expect(report.map(\.neverMatched) == [false, true, false])
        #expect(report[0].notes == ["one"])
        #expect(report[2].notes.count == 20)
    }

    @Test func aBodyThatWasNotReadDecidesNothing() throws {
        let engine = try RulesText.engine(
            """
            - when: "~bq secret"
              block: 403
            - when: "!~bq secret"
              block: 403
            - when: "~u /other & ~bq secret"
              block: 403
            - fault: { status: 503, share: 100% }
            - when: "~u /a | ~bq secret"
              pace: dsl
            - request: { set: { "json:/a": 1 } }
            """)
        var request = RequestFacts.post("http://h.test/a", "")
        request.body = nil
        request.bodyIsUnread = true
        let plan = engine.plan(for: request, now: .zero)
        #expect(plan?.names == ["rule 6", "rule 5"])
        #expect(engine.report().map(\.matched) == [0, 0, 0, 0, 1, 1])
        #expect(engine.report().map { $0.notes.isEmpty } == [false, false, true, false, true, true])
        request.body = Array("secret".utf8)
        request.bodyIsUnread = false
        #expect(engine.plan(for: request, now: .zero)?.names == ["rule 1"])
    }

    /// Draws need no more than something that tells requests apart.
    @Test func drawsTakeTheBeginningOfALongBody() throws {
        let engine = try RulesText.engine(
            """
            - { name: first, when: ~u /upload, fault: { status: 503, first: 1 } }
            - { name: body, when: "~bq secret", block: 403 }
            """)
        func isFailing(_ beginning: String, size: Int? = 2_000_000, boundary: String? = nil) -> Bool {
            var request = RequestFacts.post("http://h.test/upload", "")
            request.body = nil
            request.bodyIsUnread = true
            request.bodyBeginning = (Array(beginning.utf8), size)
            if let boundary { request.headers = HeaderFields(["Content-Type: multipart/form-data; boundary=\(boundary)"]) }
            return engine.plan(for: request, now: .zero)?.fault != nil
        }
        #expect(isFailing("secret") && !isFailing("secret") && isFailing("other") && isFailing("secret", size: nil))
        #expect(isFailing("--abc\r\nx", boundary: "abc") && !isFailing("--xyz\r\nx", boundary: "xyz"))
        #expect(engine.report()[1].matched == 0 && !engine.report()[1].notes.isEmpty)
    }

    @Test func rulesThatStayKeepTheirCountsAndNumbers() throws {
        let engine = try RulesText.engine("- name: a\n  fault: { status: 503, first: 1 }\n- name: b\n  pace: dsl")
        #expect(engine.plan(for: .get(Self.url), now: .zero)?.fault != nil)
        engine.replace(try RulesText.rules("- name: b\n  pace: edge\n\n- name: a\n  fault: { status: 503, first: 1 }"))
        #expect(engine.plan(for: .get(Self.url), now: .zero)?.fault == nil)
        #expect(engine.report().map(\.name) == ["b", "a", "b"])
        #expect(engine.report().map(\.matched) == [1, 2, 1])
        #expect(engine.report().map(\.isRetired) == [false, false, true])
        engine.replace(TrafficRules())
        #expect(engine.plan(for: .get(Self.url), now: .zero) == nil)
    }

    /// Also one that never matched, which may be misspelt.
    @Test func rulesThatWereSetForATimeAreReported() throws {
        let engine = try RulesText.engine("- { name: own, when: ~u nothing, block: 403 }")
        let own = engine.rules
        engine.replace(try RulesText.rules("- { name: other, when: ~u nowhere, block: 403 }"), settingAside: own)
        _ = engine.plan(for: .get(Self.url), now: .zero)
        #expect(engine.report().map(\.name) == ["other", "own"] && engine.report().map(\.neverMatched) == [true, true])
        engine.restore(own)
        #expect(engine.report().map(\.name) == ["own", "other"] && engine.report().map(\.neverMatched) == [true, true])
        // A page's draft that never matched is forgotten.
        let list = engine.list
        #expect(engine.replace(TrafficRules(), after: list) != nil)
        #expect(engine.report().map(\.name) == ["other"])
    }

    @Test func aPlanHasTheValuesByWhichQuotasCount() throws {
        let engine = try RulesText.engine("- fault: { quota: { limit: 1, window: 60s, by: \"header:x-tenant\" } }")
        func plan(_ tenant: String) -> ExchangePlan? {
            var request = RequestFacts.get(Self.url)
            request.headers = HeaderFields(["X-Tenant: \(tenant)"])
            return engine.plan(for: request, now: .zero)
        }
        let (first, second) = (plan("a"), plan("a"))
        #expect(first?.fault == nil && first?.rules == [] && first?.quotaValues == [Array("a".utf8)])
        #expect(second?.fault != nil && second?.quotaValues == [Array("a".utf8)] && plan("b")?.quotaValues == [Array("b".utf8)])
    }

    /// A rule that comes first decides nothing about whose request it is.
    @Test func anEarlierFaultHidesNoValueOfAQuota() throws {
        let engine = try RulesText.engine(
            "- fault: { status: 503, first: 1 }\n- fault: { quota: { limit: 9, window: 60s, by: \"header:x-tenant\" } }")
        var request = RequestFacts.get(Self.url)
        request.headers = HeaderFields(["X-Tenant: a"])
        let plans = (0..<2).map { _ in engine.plan(for: request, now: .zero) }
        #expect(plans[0]?.fault != nil && plans[1]?.fault == nil)
        #expect(plans.map { $0?.quotaValues } == [[Array("a".utf8)], [Array("a".utf8)]])
    }

    @Test func longBodiesAreComparedByTheirBytesIfNothingElseDecides() throws {
        func compares(_ match: MatchRules, _ type: String) throws -> Bool {
            RuleEngine(try RulesText.rules("- block: 403"), match: match).comparesBytes(of: HeaderFields(["Content-Type: \(type)"]))
        }
        #expect(try compares(.standard, "application/json") && compares(.standard, "application/octet-stream"))
        #expect(try !compares(.standard, "multipart/form-data; boundary=x"))
        #expect(try !compares(MatchRules(ignore: ["json:/id"]), "application/json"))
    }

    @Test func rulesThatComeBackAfterATimeKeepTheirCountsAndNumbers() throws {
        let own = "- name: a\n  fault: { status: 503, first: 1 }\n- name: b\n  pace: dsl"
        let engine = try RulesText.engine(own)
        let rules = engine.rules
        #expect(engine.plan(for: .get(Self.url), now: .zero)?.fault != nil)
        // One goes, one stays, and one is in the place of another of that name.
        for others in ["[]", "- name: b\n  pace: dsl", "- name: a\n  block: 403"] {
            engine.replace(try RulesText.rules(others), settingAside: rules)
            _ = engine.plan(for: .get(Self.url), now: .zero)
            #expect(engine.report().first { $0.name == "a" && $0.kind == .fault }?.isRetired == true)
            engine.restore(rules)
            #expect(engine.plan(for: .get(Self.url), now: .zero)?.fault == nil)
        }
        #expect(engine.report().map(\.name) == ["a", "b", "a"])
        #expect(engine.report().map(\.matched) == [4, 5, 1])
        #expect(engine.report().map(\.isRetired) == [false, false, true])
    }

    // MARK: Trials

    @Test func aTrialSaysWhyARuleDoesNotApply() throws {
        let rules = try RulesText.rules(
            """
            - name: off
              enabled: false
              block: 403
            - name: method
              when: "~u pets & (~m POST & ~d api)"
              block: 403
            - name: either
              when: "~m GET & (~u dogs | ~u cats)"
              block: 403
            - name: not
              when: "! ~u pets"
              block: 403
            - name: never
              fault: { status: 503, share: 0% }
            - name: later
              fault: { kind: reset, after: 5s }
            - name: second
              fault: { kind: reset, nth: 2 }
            - name: close
              fault: close
            - name: taken
              fault: dns
            """)
        let trial = rules.trial(.get(Self.url))
        #expect(
            trial.map(\.outcome) == [
                .off, .unmatched("~m POST"), .unmatched("~u dogs | ~u cats"), .unmatched("!~u pets"), trial[4].outcome,
                .notDrawn("the rule begins 5s after the run began"),
                .notDrawn("it is request 1 of its kind, and the rule is for 2"), .applies, .preceded(by: "close"),
            ])
        guard case .notDrawn(let text) = trial[4].outcome else {
            Issue.record("a share of 0 % was drawn")
            return
        }
        #expect(text.hasPrefix("request 1 of its kind draws "))
        #expect(text.hasSuffix("%, which is not below 0%"))
    }
}
