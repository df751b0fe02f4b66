import CassetteModel
import Testing

@testable import TrafficRules

@Suite struct ExchangeTrialTests {
    private static let rules = """
        - name: staging
          when: ~u ^https://api.example/v2/
          mapRemote: http://127.0.0.1:3000/v2/
        - name: env
          request: { set: { "header:x-env": test } }
          response: { status: 201, set: { "json:/ok": true } }
        - name: post
          when: "~m POST"
          block: 403
        - pace: { latency: 200ms }
        - name: busy
          fault: { kind: cut, after: 50% }
        """

    private static func trial(answer: ExchangeTrial.Answer?) throws -> ExchangeTrial {
        ExchangeTrial(try RulesText.rules(self.rules), .get("https://api.example/v2/a", ["Host: api.example"]), answer: answer)
    }

    @Test func eachRuleSaysWhetherItApplies() throws {
        let trial = try Self.trial(answer: nil)
        #expect(trial.trials.map(\.outcome) == [.applies, .applies, .unmatched("~m POST"), .applies, .applies])
        #expect(
            trial.effects == [
                "The first byte of the answer comes 200 ms late.", "The body is cut after 50.0 % of the body (\"busy\").",
            ])
    }

    @Test func theRequestIsShownBeforeAndAfter() throws {
        #expect(
            try Self.trial(answer: nil).request?.diff == [
                "- GET https://api.example/v2/a", "- Host: api.example", "+ GET http://127.0.0.1:3000/v2/a", "+ Host: 127.0.0.1:3000",
                "+ x-env: test",
            ])
    }

    @Test func theAnswerIsShownBeforeAndAfter() throws {
        let answer = ExchangeTrial.Answer(
            head: ResponseHeadFacts(status: 200, reason: "OK", headers: HeaderFields(["Content-Type: application/json"])),
            body: Array("{\"ok\": false}".utf8))
        #expect(
            try Self.trial(answer: answer).answer?.diff == [
                "- 200 OK", "+ 201 Created", "  Content-Type: application/json", "  ", "- {\"ok\": false}", "+ {\"ok\": true}",
            ])
        #expect(try Self.trial(answer: nil).answer == nil)
    }

    @Test func aBodyWithPlaceholdersIsNoted() throws {
        func notes(_ rules: String, _ body: String) throws -> [String] {
            ExchangeTrial(try RulesText.rules(rules), .post("http://h.test/a", body), answer: nil).notes
        }
        let drawing = "- fault: { status: 503, share: 50% }"
        let note = "the body of the request has placeholders: conditions on it and draws may differ in a run, which sees the values"
        #expect(try notes(drawing, #"{"password": "{{password:1}}"}"#) == [note])
        #expect(try notes("- { when: ~bq x, block: 403 }", #"{"password": "{{password:1}}"}"#) == [note])
        #expect(try notes(drawing, #"{"password": "hunter2"}"#) == [] && notes("- block: 403", "{{password:1}}") == [])
    }

    @Test func aLongBodyIsTriedAsARunLooksAtIt() throws {
        let rules = try RulesText.rules(
            """
            - { name: body, when: "~bq secret", block: 403 }
            - { name: url, when: "~bq secret & ~u /other", block: 403 }
            - { name: draw, fault: { status: 503, first: 1 } }
            """)
        let request = RequestFacts.post("http://h.test/upload", "secret" + String(repeating: "x", count: 1 << 20))
        let outcomes = ExchangeTrial(rules, request, answer: nil).trials.map(\.outcome)
        #expect(outcomes[0] == .notDrawn("the body of the request is longer than a rule can look at"))
        if case .unmatched = outcomes[1] {} else { Issue.record("\(outcomes[1])") }
        #expect(outcomes[2] == .applies)
    }

    @Test func aRequestIsReadFromItsURL() {
        #expect(RequestFacts(method: "GET", writtenURL: "https://u@h.test:8443?a=1", body: nil)?.headers.first("host") == "h.test:8443")
        #expect(RequestFacts(method: "GET", writtenURL: "https://h.test", body: nil)?.url == "https://h.test/")
        for url in ["h.test/a", "ftp://h.test/", "https:///a", "https://h.test/a b"] {
            #expect(RequestFacts(method: "GET", writtenURL: url, body: nil) == nil)
        }
    }
}
