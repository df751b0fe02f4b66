internal import CassetteModel
internal import Foundation
internal import TapeBytes
internal import TrafficRules

/// The attempts of a test's client, for the verdict on it. Any thread may use it.
final class ClientAttempts: Sendable {
    /// Attempts that are kept; a verdict on more would name the same things.
    private static let limit = 100_000

    private let limits: ClientVerdict.Limits
    private let attempts = Guarded<[ClientVerdict.Attempt]>([])

    init(_ limits: ClientVerdict.Limits) { self.limits = limits }

    /// - Returns: the number of the attempt; nil if there are too many.
    fileprivate func began(_ attempt: ClientVerdict.Attempt) -> Int? {
        self.attempts.withLock { attempts in
            guard attempts.count < Self.limit else { return nil }
            var attempt = attempt
            // The client of a test does not know its connections, so that each attempt has one of its own.
            attempt.connection = attempts.count
            attempt.connectionEnd = attempt.start
            attempt.isOfOneProgram = true
            attempts.append(attempt)
            return attempts.count - 1
        }
    }

    fileprivate func change(_ number: Int, _ change: (inout ClientVerdict.Attempt) -> Void) {
        self.attempts.withLock { change(&$0[number]) }
    }

    /// What the client did with answers that failed.
    ///
    /// - Parameters:
    ///   - now: since the cassette was opened.
    ///   - hasEnded: the test has ended, so that no more attempts come.
    ///   - shownURL: removes what a recording would not have.
    func findings(at now: Duration, hasEnded: Bool, shownURL: @escaping (String) -> String) -> [ClientVerdict.Finding] {
        let run = ClientVerdict.Run(end: now, hasEnded: hasEnded)
        return ClientVerdict(self.attempts.withLock { $0 }, run: run, limits: self.limits, shownURL: shownURL).findings
    }
}

/// Watches one attempt by its events: when it began, how it was answered, and when the client gave it up.
final class ClientAttempt: Sendable {
    private let log: ClientAttempts
    private let number: Int
    private let time: @Sendable () -> Duration
    /// Of the answer; nil before its head.
    private let status = Guarded<Int?>(nil)

    /// Nil if enough attempts have been watched.
    ///
    /// - Parameters:
    ///   - body: of the request, for one that rules do not look at.
    ///   - engine: says which requests are equal.
    ///   - time: since the cassette was opened, by the session's clock.
    init?(
        _ facts: RequestFacts, body: RequestBody, log: ClientAttempts, engine: RuleEngine, time: @escaping @Sendable () -> Duration
    ) {
        let fields = facts.headers
        var attempt = ClientVerdict.Attempt(
            start: time(), end: nil, method: facts.method, redactedURL: DrawnURL.of(facts.url),
            hasIdempotencyKey: fields.contains("idempotency-key") || fields.contains("if-match") || fields.contains("if-none-match"),
            outcome: .lost, isInjected: false)
        attempt.url = facts.url
        attempt.user = RequestUser.hash(of: fields, url: facts.url)
        attempt.isGRPC = facts.isGRPC
        attempt.fingerprint = engine.fingerprint(of: facts)
        if facts.bodyIsUnread {
            switch body {
            case .none: break
            case .data(let data):
                var digest = PortableSHA256()
                data.withUnsafeBytes { digest.update($0) }
                attempt.bodyDigest = digest.finalize()
                attempt.hasWholeRequest = engine.comparesBytes(of: fields)
            // The same body may come again in another file.
            case .file(let url, _):
                attempt.bodyDigest = Array(url.path.utf8)
                attempt.hasWholeRequest = false
            case .unobservable:
                attempt.bodyDigest = Array(UUID().uuidString.utf8)
                attempt.hasWholeRequest = false
            }
        }
        guard let number = log.began(attempt) else { return nil }
        self.log = log
        self.number = number
        self.time = time
    }

    /// Quotas count the request by these values: a request with others is another user's.
    func isCounted(by values: [[UInt8]]) {
        if !values.isEmpty { self.log.change(self.number) { $0.isCounted(by: values) } }
    }

    /// A rule has made what becomes of the attempt.
    func injected() { self.log.change(self.number) { $0.isInjected = true } }

    /// Nothing comes for a time.
    func stalled() {
        let now = self.time()
        self.log.change(self.number) { $0.outcome = .stalled(from: now) }
    }

    func took(_ event: TransportEvent) {
        switch event {
        case .sent, .interim, .chunk, .trailers, .metrics: break
        case .head(let head):
            self.status.withLock { $0 = head.status }
            let wait = RetryAfter(head.headers, now: Timestamp(microseconds: 0))
            // A date says something only next to the answer's own date: the clock of this machine may be another than the server's.
            let isDate = head.headers.value(for: "Retry-After")?.utf8.contains { !(48...57 ~= $0 || $0 == 32 || $0 == 9) } == true
            self.log.change(self.number) { attempt in
                attempt.outcome = .answer(head.status)
                guard let wait, !isDate || head.headers.value(for: "Date") != nil else { return }
                attempt.retryAfter = wait.delay
                attempt.isRetryAfterDate = isDate
            }
        case .end:
            let (now, status) = (self.time(), self.status.withLock { $0 })
            self.log.change(self.number) { attempt in
                attempt.end = now
                guard case .stalled(let start) = attempt.outcome, let status else { return }
                // The rest came in the end, so that a later request is not a retry.
                attempt.stalledFrom = start
                attempt.outcome = .answer(status)
            }
        case .failed(let failure):
            let now = self.time()
            self.log.change(self.number) { $0.fail(failure, at: now) }
        }
    }
}

extension ClientVerdict.Attempt {
    fileprivate mutating func fail(_ failure: TransportFailure, at now: Duration) {
        self.end = now
        guard case .network(let kind) = failure.kind else {
            // Nothing is recorded for the request, or it cannot be sent: no attempt would change that, and there is no status to judge.
            self.outcome = .answer(0)
            self.isInjected = false
            return
        }
        switch kind {
        case .cancelled: self.clientLeft = now
        case .dns, .refused, .unreachable, .unprocessed: self.outcome = .notSent
        // A handshake fails for reasons that stay, such as a certificate.
        case .tls: self.outcome = .answer(0)
        case .malformed: self.outcome = .garbage(breaksFraming: false)
        case .timeout:
            if case .stalled = self.outcome { return }
            self.outcome = .stalled(from: now)
        case .reset, .truncated:
            switch self.outcome {
            case .answer: self.outcome = .cut
            case .lost, .stalled, .cut, .garbage, .notSent: break
            }
        }
    }
}
