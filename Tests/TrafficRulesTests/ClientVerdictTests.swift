import CassetteModel
import TapeBytes
import Testing
@testable import TrafficRules

@Suite struct ClientVerdictTests {
    private typealias Attempt = ClientVerdict.Attempt
    private typealias Kind = ClientVerdict.Finding.Kind

    /// Attempts one after the other: each takes 10 ms.
    private func attempt(
        _ start: Double, _ outcome: Attempt.Outcome, method: String = "GET", url: String = "https://a.example/", retryAfter: Double? = nil,
        connection: Int = 0, isInjected: Bool = true, hasIdempotencyKey: Bool = false, left: Double? = nil, closed: Double? = nil,
        end: Double? = nil
    ) -> Attempt {
        Attempt(
            start: .milliseconds(Int(start * 1000)), end: .milliseconds(Int((end ?? start + 0.01) * 1000)), method: method,
            redactedURL: url, hasIdempotencyKey: hasIdempotencyKey, outcome: outcome, isInjected: isInjected,
            retryAfter: retryAfter.map { .milliseconds(Int($0 * 1000)) }, clientLeft: left.map { .milliseconds(Int($0 * 1000)) },
            connection: connection, connectionEnd: closed.map { .milliseconds(Int($0 * 1000)) })
    }

    private func kinds(_ attempts: [Attempt], end: Double = 30, exitCode: Int? = 0, limits: ClientVerdict.Limits = .init()) -> [Kind] {
        let run = ClientVerdict.Run(end: .milliseconds(Int(end * 1000)), exitCode: exitCode)
        return ClientVerdict(attempts, run: run, limits: limits).findings.map(\.kind)
    }

    // MARK: Clients, as their documentation says they behave

    /// curl --retry 3: waits 1, 2 and 4 seconds, and keeps Retry-After.
    @Test func curlWithRetryDoesWhatItShould() {
        #expect(self.kinds([self.attempt(0, .answer(503)), self.attempt(1.01, .answer(503)), self.attempt(3.02, .answer(200))]) == [])
        #expect(self.kinds([self.attempt(0, .answer(429), retryAfter: 2), self.attempt(2.01, .answer(200))]) == [])
        // Without --fail and --retry-all-errors, a 404 is an answer.
        #expect(self.kinds([self.attempt(0, .answer(404))]) == [])
        // It retries any method.
        #expect(
            self.kinds([self.attempt(0, .answer(502), method: "POST"), self.attempt(1.01, .answer(200), method: "POST")]) == [.unsafeRetry])
    }

    /// urllib3.Retry(3): no backoff by default, and no POST.
    @Test func urllib3RetryHasNoBackoffByDefault() {
        let failing = [0, 0.011, 0.022, 0.033].map { self.attempt($0, .lost) }
        #expect(self.kinds(failing, exitCode: 1) == [.noBackoff])
        // With backoff_factor=0.1, the first retry comes at once.
        #expect(self.kinds([0, 0.011, 0.221, 0.631].map { self.attempt($0, .answer(503)) }, exitCode: 1) == [])
        #expect(self.kinds([self.attempt(0, .lost, method: "POST")], exitCode: 1) == [])
    }

    /// httpx and fetch of Node never send again.
    @Test(arguments: [ClientVerdict.Attempt.Outcome.answer(503), .lost, .notSent, .answer(429)])
    func clientsWithoutRetriesAreToldSo(outcome: ClientVerdict.Attempt.Outcome) {
        #expect(self.kinds([self.attempt(0, outcome)], exitCode: 1) == [.noRetry])
        #expect(self.kinds([self.attempt(0, outcome)], end: 1, exitCode: nil) == [])
        #expect(self.kinds([self.attempt(0, outcome)], end: 100, exitCode: nil) == [.noRetry])
        // What the origin answered is its own matter.
        #expect(self.kinds([self.attempt(0, outcome, isInjected: false)], exitCode: 1) == [])
    }

    /// botocore: exponential with jitter, and no Retry-After.
    @Test func botocoreIgnoresRetryAfter() {
        let jittered = [0, 0.35, 0.37, 2.2, 2.9].map { self.attempt($0, .answer(500)) }
        #expect(self.kinds(jittered, exitCode: 1) == [])
        #expect(self.kinds([self.attempt(0, .answer(503), retryAfter: 2), self.attempt(0.6, .answer(200))]) == [.retryAfterIgnored])
    }

    /// A timestamp, an id or a boundary that matching leaves out does not make another request.
    @Test func attemptsThatMatchingFindsEqualAreOneRequest() {
        var attempts = [
            self.attempt(0, .answer(503), url: "https://a.example/?ts=1"), self.attempt(1, .answer(200), url: "https://a.example/?ts=2"),
        ]
        #expect(self.kinds(attempts) == [.noRetry])
        for index in attempts.indices { attempts[index].fingerprint = [1] }
        #expect(self.kinds(attempts) == [])
        // The fingerprint has no long bodies.
        attempts[1].bodyDigest = [2]
        #expect(self.kinds(attempts) == [.noRetry])
    }

    /// A rule may end the exchange while the body is still coming, so that the next attempt is not known as the same request.
    @Test func aRequestThatIsNotKnownAsAWholeLacksNoRetry() {
        var attempts = [self.attempt(0, .lost, method: "PUT"), self.attempt(1, .answer(200), method: "PUT")]
        attempts[1].fingerprint = [1]
        #expect(self.kinds(attempts) == [.noRetry])
        attempts[0].hasWholeRequest = false
        #expect(self.kinds(attempts) == [])
    }

    /// URLSession and others give up after a minute.
    @Test func aClientWhoseLimitIsTheThresholdIsNotAccused() {
        for (left, kinds) in [(60.0, [Kind]()), (60.4, []), (61.5, [.endlessWait])] {
            let stalled = self.attempt(0, .stalled(from: .zero), left: left, end: left)
            #expect(self.kinds([stalled], end: 100, exitCode: nil) == kinds)
        }
    }

    /// The test of a client ends without an exit code.
    @Test func aClientThatHasEndedWithoutACodeRetriesNoMore() {
        for outcome in [Attempt.Outcome.answer(503), .cut] {
            let run = ClientVerdict.Run(end: .seconds(1), hasEnded: true)
            let findings = ClientVerdict([self.attempt(0, outcome)], run: run).findings
            #expect(findings.map(\.kind) == [.noRetry])
            #expect(findings.map(\.certainty) == [.likely])
        }
    }

    /// It may decline to wait for minutes.
    @Test func aClientNeedNotWaitForALongRetryAfter() {
        #expect(self.kinds([self.attempt(0, .answer(503), retryAfter: 60)], exitCode: 1) == [.noRetry])
        #expect(self.kinds([self.attempt(0, .answer(503), retryAfter: 61)], exitCode: 1) == [])
    }

    @Test(arguments: ["GET", "PUT", "DELETE", "QUERY", "PROPFIND"]) func idempotentRequestsMayBeSentAgain(method: String) {
        #expect(self.kinds([self.attempt(0, .lost, method: method), self.attempt(1, .answer(200), method: method)]) == [])
        #expect(self.kinds([self.attempt(0, .lost, method: method)], exitCode: 1) == [.noRetry])
    }

    // MARK: Single findings

    @Test func retryAfterHasATolerance() {
        #expect(self.kinds([self.attempt(0, .answer(503), retryAfter: 2), self.attempt(1.92, .answer(200))]) == [])
        #expect(self.kinds([self.attempt(0, .answer(503), retryAfter: 2), self.attempt(1.9, .answer(200))]) == [.retryAfterIgnored])
        // What was under way already is no retry.
        #expect(self.kinds([self.attempt(0, .answer(503), retryAfter: 2), self.attempt(0.005, .answer(200))]) == [])
        // Another request is another matter.
        #expect(
            self.kinds(
                [self.attempt(0, .answer(503), retryAfter: 2), self.attempt(1, .answer(200), url: "https://a.example/b")], exitCode: nil)
                == [])
        var date = self.attempt(0, .answer(503), retryAfter: 2)
        date.isRetryAfterDate = true
        #expect(self.kinds([date, self.attempt(1, .answer(200))]) == [])
    }

    /// A worker that was not refused does not know of the answer to another one.
    @Test func aRequestOnAnotherOpenConnectionIsOnlyLikelyARetry() {
        func certainty(_ attempts: [Attempt]) -> ClientVerdict.Finding.Certainty? {
            ClientVerdict(attempts, run: .init(end: .seconds(10), exitCode: 0)).findings.first?.certainty
        }
        let next = self.attempt(1, .answer(200), connection: 2)
        #expect(certainty([self.attempt(0, .answer(429), retryAfter: 5, connection: 1), next]) == .likely)
        #expect(certainty([self.attempt(0, .answer(429), retryAfter: 5, connection: 1, closed: 0.5), next]) == .sure)
        let again = self.attempt(2, .answer(200), connection: 1)
        #expect(certainty([self.attempt(0, .answer(429), retryAfter: 5, connection: 1), next, again]) == .sure)
    }

    /// Thirty programs that each ask once are no retries of one.
    @Test func requestsOnAConnectionEachAreOnlyLikelyRetries() {
        func certainties(connections: Int) -> [ClientVerdict.Finding.Certainty] {
            let attempts = (0..<12).map { self.attempt(Double($0) * 0.02, .answer(503), connection: $0 % connections) }
            return ClientVerdict(attempts, run: .init(end: .seconds(10), exitCode: 0)).findings.map(\.certainty)
        }
        #expect(certainties(connections: 12) == [.likely, .likely] && certainties(connections: 2) == [.sure, .sure])
    }

    /// Workers of one program may share connections, as a pool or HTTP/2 has them.
    @Test func anEarlyRequestIsOnlyLikelyARetryIfEachRefusedOneCameAgainInTime() {
        func certainty(_ attempts: [Attempt]) -> ClientVerdict.Finding.Certainty? {
            ClientVerdict(attempts, run: .init(end: .seconds(10), exitCode: 0)).findings.first?.certainty
        }
        let refused = self.attempt(0, .answer(429), retryAfter: 2)
        let (early, due) = (self.attempt(0.3, .answer(200)), self.attempt(2.1, .answer(200)))
        #expect(certainty([refused, early, due]) == .likely)
        #expect(certainty([refused, early]) == .sure)
        // Three refusals, of which only one was waited for.
        let ignoring = [refused, self.attempt(0.3, .answer(429), retryAfter: 2), self.attempt(0.6, .answer(429), retryAfter: 2)]
        #expect(certainty(ignoring + [self.attempt(3, .answer(200))]) == .sure)
        #expect(certainty(ignoring + [3, 4, 5].map { self.attempt($0, .answer(200)) }) == .likely)
    }

    @Test func aQuotasValueTellsUsersApart() {
        func user(_ values: [String]) -> Int {
            var attempt = self.attempt(0, .answer(200))
            attempt.isCounted(by: values.map { Array($0.utf8) })
            return attempt.user
        }
        #expect(user([]) == 0 && user(["a"]) == user(["a"]) && user(["a"]) != user(["b"]) && user(["a", "b"]) != user(["ab"]))
    }

    /// The second one has other credentials.
    @Test func usersDoNotRetryEachOthersRequests() {
        func kinds(_ attempts: [Attempt], users: [Int]) -> [Kind] {
            self.kinds(
                zip(attempts, users).map { attempt, user in
                    var attempt = attempt
                    attempt.user = user
                    return attempt
                }, exitCode: 1)
        }
        let refused = [self.attempt(0, .answer(429), retryAfter: 5), self.attempt(1, .answer(200))]
        #expect(kinds(refused, users: [1, 2]) == [] && kinds(refused, users: [1, 1]) == [.retryAfterIgnored])
        let posts = [self.attempt(0, .answer(500), method: "POST"), self.attempt(1, .answer(200), method: "POST")]
        #expect(kinds(posts, users: [1, 2]) == [] && kinds(posts, users: [2, 2]) == [.unsafeRetry])
        let failing = [0, 0.011, 0.022, 0.033].map { self.attempt($0, .lost) }
        #expect(kinds(failing, users: [1, 2, 1, 2]) == [] && kinds(failing, users: [1, 1, 1, 1]) == [.noBackoff])
        // A client that logs in again before it tries again has tried again.
        #expect(kinds([self.attempt(0, .answer(503))], users: [1]) == [.noRetry])
        #expect(kinds([self.attempt(0, .answer(503)), self.attempt(1, .answer(200))], users: [1, 2]) == [])
    }

    @Test func credentialsTellUsersApart() {
        func user(_ fields: String...) -> Int { RequestUser.hash(of: HeaderFields(fields), url: "http://a.example/") }
        #expect(user() == 0 && user("Accept: a") == 0 && user("Cookie: theme=dark; lang=de") == 0)
        let fields = [
            "Authorization: Bearer", "Authorization: Basic", "Proxy-Authorization: Basic", "X-API-Key:", "Cookie: theme=a; sid=",
            "X-Vault-Token:", "DD-API-KEY:", "X-Shopify-Access-Token:", "Ocp-Apim-Subscription-Key:", "X-Functions-Key:", "Circle-Token:",
            "X-RapidAPI-Key:", "Api-Token:", "X-Redmine-API-Key:", "X-Figma-Token:", "Private-Token:", "X-Auth-Token:", "X-Goog-Api-Key:",
        ]
        for fields in fields.map({ "\($0) " }) {
            #expect(user("\(fields)a") == user("\(fields)a") && user("\(fields)a") != user("\(fields)b"), "\(fields)")
        }
        // Their value is another one in each request.
        for scheme in ["AWS4-HMAC-SHA256", "Digest", "NTLM", "Negotiate", "OAuth", "DPoP"] {
            #expect(user("Authorization: \(scheme) abc") == 0, "\(scheme)")
        }
        for field in [
            "X-CSRF-Token", "Idempotency-Key", "Sec-WebSocket-Key", "X-Nonce", "X-Signature", "X-Continuation-Token", "CB-ACCESS-SIGN",
            "OK-ACCESS-SIGN", "KC-API-SIGN", "X-BAPI-SIGN", "X-Shopify-Hmac-SHA256",
        ] {
            #expect(user("\(field): abc") == user("\(field): abd"), "\(field)")
        }
        #expect(user("Cookie: theme=a; sid=1") == user("Cookie: sid=1; theme=b"))
    }

    /// A finding is printed, so it has a URL as a recording has it.
    @Test(arguments: [
        ("https://maps.test/x?key=AIzaSyD4k83hfKs02ksLdheuH5kdjhJk3dQ9xY1", "AIzaSy"),
        (
            "https://acct.blob.core.windows.net/g/x?sp=r&sv=2020-08-04&se=2026-01-01T00%3A00%3A00Z&sig=Zq9aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5zA0%3D",
            "Zq9aB3"
        ),
        ("https://api.telegram.org/bot123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0/getMe", "AAHdqTcv"),
        ("https://bo:hunter2secret@a.test/x", "hunter2secret"),
    ]) func aFindingHasNoSecretsOfItsURL(url: String, secret: String) throws {
        var attempt = self.attempt(0, .answer(503), url: DrawnURL.of(url))
        attempt.url = url
        let engine = try RulesText.engine("- block: 403")
        let findings = ClientVerdict([attempt], run: .init(end: .seconds(10), exitCode: 1), shownURL: engine.shown).findings
        #expect(findings.count == 1 && !findings[0].text.contains(secret), "\(findings.map(\.text))")
        #expect(findings[0].text.contains("GET https://"))
    }

    @Test func credentialsInTheURLTellUsersApart() {
        func user(_ url: String) -> Int { RequestUser.hash(of: HeaderFields(), url: url) }
        #expect(user("http://a.example/?page=1") == 0)
        #expect(user("http://a.example/?api_key=a&ts=1") == user("http://a.example/?ts=2&api_key=a"))
        for url in ["http://a.example/?page=1&access_token=", "http://a.example/?api_key=", "http://x:"] {
            let end = url == "http://x:" ? "@a.example/" : ""
            #expect(user(url + "a" + end) != user(url + "b" + end) && user(url + "a" + end) == user(url + "a" + end), "\(url)")
        }
    }

    @Test func findingsHaveTheirEvidence() {
        let attempts = [
            self.attempt(5, .answer(200), url: "https://a.example/b"), self.attempt(1, .answer(200)),
            self.attempt(0, .answer(429), retryAfter: 60),
            self.attempt(2, .answer(200)),
        ]
        let findings = ClientVerdict(attempts, run: .init(end: .seconds(10), exitCode: 0)).findings
        #expect(
            findings == [
                .init(
                    kind: .retryAfterIgnored, certainty: .sure,
                    text: "GET https://a.example/ came 990 ms after an answer 429 that asked for 60 s", evidence: [2, 1, 3])
            ])
    }

    @Test func findingsAreJSON() {
        let attempts = [self.attempt(0, .answer(429), retryAfter: 60), self.attempt(2, .answer(200))]
        let finding = ClientVerdict(attempts, run: .init(end: .seconds(10), exitCode: 0)).findings[0]
        var writer = JSONWriter()
        finding.write(into: &writer) { $0 + 1 }
        #expect(
            String(decoding: writer.bytes, as: UTF8.self) == """
                {
                  "kind": "retry-after-ignored",
                  "certainty": "sure",
                  "text": "GET https://a.example/ came 1.99 s after an answer 429 that asked for 60 s",
                  "exchanges": [1, 2]
                }
                """)
    }

    @Test func manyRetriesAreAStorm() {
        let storm = (0...11).map { self.attempt(Double($0) * 0.5, .answer(503)) }
        #expect(self.kinds(storm, exitCode: 1) == [.storm])
        #expect(self.kinds(Array(storm.prefix(11)), exitCode: 1) == [])
        let slow = (0...30).map { self.attempt(Double($0) * 1.5, .answer(503)) }
        #expect(self.kinds(slow, end: 60, exitCode: 1) == [])
        // A client that polls is none, nor one that asks for the same a hundred times at once.
        #expect(self.kinds((0...30).map { self.attempt(Double($0) * 0.1, .answer(200)) }) == [])
        #expect(self.kinds((0...99).map { _ in self.attempt(0, .answer(503)) }, exitCode: 1) == [])
    }

    @Test func requestsWithAnEffectAreNotSentAgain() {
        func pair(_ outcome: Attempt.Outcome, _ method: String, key: Bool = false) -> [Kind] {
            self.kinds([
                self.attempt(0, outcome, method: method, hasIdempotencyKey: key), self.attempt(1, .answer(200), method: method),
            ])
        }
        for outcome in [Attempt.Outcome.lost, .answer(500), .answer(504), .cut, .stalled(from: .zero)] {
            #expect(pair(outcome, "POST") == [.unsafeRetry], "\(outcome)")
            #expect(pair(outcome, "PATCH") == [.unsafeRetry])
            #expect(pair(outcome, "PUT") == [])
            #expect(pair(outcome, "POST", key: true) == [])
        }
        // These say that nothing was done.
        for outcome in [Attempt.Outcome.notSent, .answer(429), .answer(503), .answer(408)] { #expect(pair(outcome, "POST") == []) }
        // An hour later, it is a request of its own.
        #expect(self.kinds([self.attempt(0, .lost, method: "POST"), self.attempt(3600, .answer(200), method: "POST")], end: 4000) == [])
    }

    @Test func refusedRequestsAreNotSentAgain() {
        #expect(self.kinds([self.attempt(0, .answer(403)), self.attempt(1, .answer(403))], exitCode: 1) == [.unsafeRetry])
        // Answered otherwise then, or asked for until it is there, or with credentials.
        #expect(self.kinds([self.attempt(0, .answer(403)), self.attempt(1, .answer(200))]) == [])
        #expect(self.kinds([self.attempt(0, .answer(404)), self.attempt(1, .answer(404))]) == [])
        #expect(self.kinds([self.attempt(0, .answer(401)), self.attempt(1, .answer(401))]) == [])
        // Of the origin's own answers nobody knows.
        #expect(
            self.kinds([self.attempt(0, .answer(403), isInjected: false), self.attempt(1, .answer(403), isInjected: false)], exitCode: 1)
                == [])
    }

    @Test func stalledAnswersAreGivenUp() {
        let stall = Attempt.Outcome.stalled(from: .zero)
        #expect(self.kinds([self.attempt(0, stall, end: 100)], end: 100, exitCode: nil) == [.endlessWait])
        #expect(self.kinds([self.attempt(0, stall, left: 10, closed: 10, end: 10)], end: 100, exitCode: nil) == [])
        #expect(self.kinds([self.attempt(0, stall, end: 20)], end: 20, exitCode: nil) == [])
        var limits = ClientVerdict.Limits()
        limits.stallWait = .seconds(15)
        #expect(self.kinds([self.attempt(0, stall, end: 20)], end: 20, exitCode: nil, limits: limits) == [.endlessWait])
    }

    @Test func cutAnswersAreNotTakenForWhole() {
        #expect(self.kinds([self.attempt(0, .cut)]) == [.cutAccepted])
        #expect(self.kinds([self.attempt(0, .cut)], exitCode: 1) == [.noRetry])
        #expect(self.kinds([self.attempt(0, .cut)], end: 1, exitCode: nil) == [])
        #expect(self.kinds([self.attempt(0, .cut), self.attempt(1, .answer(200))]) == [])
        // It went on with something: who knows.
        #expect(self.kinds([self.attempt(0, .cut), self.attempt(1, .answer(200), url: "https://a.example/b")]) == [])
        let finding = ClientVerdict([self.attempt(0, .cut)], run: .init(end: .seconds(1), exitCode: 0)).findings[0]
        #expect(finding.certainty == .likely)
    }

    @Test func connectionsWithGarbageAreClosed() {
        let garbage = Attempt.Outcome.garbage(breaksFraming: true)
        #expect(self.kinds([self.attempt(0, garbage, method: "POST", closed: 0.02)], exitCode: 1) == [])
        #expect(self.kinds([self.attempt(0, garbage, method: "POST")], exitCode: 1) == [.connectionKept])
        #expect(self.kinds([self.attempt(0, garbage), self.attempt(1, .answer(200))], end: 2) == [.connectionKept])
        #expect(self.kinds([self.attempt(0, garbage, closed: 0.02), self.attempt(1, .answer(200), connection: 1)]) == [])
        #expect(
            self.kinds([self.attempt(0, .garbage(breaksFraming: false)), self.attempt(1, .answer(200))], end: 20) == [])
    }

    @Test func aVerdictOfAnotherKindIsRefused() throws {
        let message =
            "\"a.yaml\" line 1: \"verdict\" is \"server\"; write client, or members that change its thresholds, for example { stallWait: 30s }"
        #expect(throws: SettingSyntaxError(message)) { try ClientVerdict.Limits(try RulesText.node("server"), file: "a.yaml") }
    }

    @Test func settingsChangeTheLimits() throws {
        let limits = try ClientVerdict.Limits(try RulesText.node("{ stormCount: 2, stormTime: 1s, backoffGap: 1ms }"), file: "a.yaml")
        #expect(limits.stormCount == 2)
        #expect(self.kinds([0, 0.2, 0.4, 0.6].map { self.attempt($0, .answer(503)) }, exitCode: 1, limits: limits) == [.storm])
        #expect(throws: SettingSyntaxError("\"a.yaml\" line 1: \"verdict\" has no \"stormCont\"; did you mean \"stormCount\"?")) {
            try ClientVerdict.Limits(try RulesText.node("{ stormCont: 2 }"), file: "a.yaml")
        }
    }

    @Test func aHundredThousandAttemptsTakeTimeInLine() {
        let attempts = (0..<100_000).map { self.attempt(Double($0) * 0.1, .answer($0 % 2 == 0 ? 503 : 200)) }
        #expect(self.kinds(attempts, end: 20_000) == [.storm])
    }
}
