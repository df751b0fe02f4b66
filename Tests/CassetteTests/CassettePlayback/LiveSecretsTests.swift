import Testing

@testable import CassetteModel
@testable import CassettePlayback
@testable import CassetteRedaction
@testable import CassetteStore

/// The state that a session keeps about the secrets in live requests.
@Suite struct LiveSecretsTests {
    private let recorded = SentRequests(requests: [
        SentRequests.Request(
            url: "http://a.test/?q={{authorization:1}}", lines: ["Content-Type: application/json"],
            body: #"{"password":"{{password:1}}","again":"{{authorization:1}}"}"#)
    ])

    private func session(_ redaction: LiveRedactor) -> CassetteSession {
        var keys = RecordedKeys()
        for request in self.recorded.requests {
            MatchRules.standard.withHeadKey(method: request.method, url: request.url, headers: HeaderFields(request.lines)) {
                keys.append($0, mayHaveBody: true)
            }
        }
        return CassetteSession(
            mode: .none, keys: keys, hasCassette: true, repetition: .last, redaction: redaction, source: self.recorded)
    }

    private func send(_ number: Int, to session: CassetteSession) throws -> Decision {
        let token = "a-token-\(number)-0123"
        let fields = HeaderFields(["Content-Type: application/json", "Authorization: Bearer \(token)"])
        switch session.begin(method: "POST", url: "http://a.test/?q=\(token)", headers: fields, hasBody: true) {
        case .decided(let decision): return decision
        case .needsBody(let pending):
            var body = pending.body()
            Array(#"{"password":"p-\#(number)-0123","again":"\#(token)"}"#.utf8).withUnsafeBytes { body.push($0) }
            return try session.resolve(pending, body: body.finish())
        }
    }

    /// The knowledge of a session about its requests ends with it.
    @Test func requestsDoNotChangeTheRules() throws {
        let redaction = LiveRedactor(Redactor())
        let session = self.session(redaction)
        for number in 0..<100 { #expect(try self.send(number, to: session) == .replay(index: 0)) }
        #expect(redaction.count == 0)
    }

    /// Both requests know the same number of secrets, but not the same ones.
    @Test func lineThatOneRequestFoundCleanIsSearchedAgainForAnother() {
        let redaction = LiveRedactor(Redactor())
        let note = HeaderFields(["X-Note: kT7-pQ2xV9mZ4w1"])
        func lines(token: String) -> [String] {
            redaction.forOneRequest().redacted(url: "http://a.test/?token=\(token)", headers: note).headers.lines
        }
        #expect(lines(token: "kT7-pQ2xV9mZ4w2") == note.lines)
        #expect(lines(token: "kT7-pQ2xV9mZ4w1") == ["X-Note: {{token:2}}"])
    }

    @Test func valuesOfTheRulesStayKnown() throws {
        let rules = try RedactionRules(rules: [], secrets: [SecretValue(name: "KEY", bytes: Array("env-value-77".utf8))])
        let redaction = LiveRedactor(Redactor(rules: rules))
        #expect(redaction.count == 1)
        let one = redaction.forOneRequest()
        #expect(one.redacted(url: "http://h/?x=env-value-77&token=abc-def-123") == "http://h/?x={{env-KEY:1}}&token={{token:1}}")
        #expect(one.count == 2)
        #expect(redaction.count == 1)
    }
}
