import CassetteModel
import Foundation
@testable import TapeBytes
import Testing
@testable import Wiretape

@Suite struct RetryPolicyTests {
    private let policy = HTTPSession.RetryPolicy(backoff: HTTPSession.RetryPolicy.ExponentialBackoff(jitter: 0))

    private func decision(_ outcome: HTTPSession.RetryPolicy.Outcome, _ method: HTTPSession.Method = .get, retryCount: Int = 0) -> Duration?
    {
        self.policy.decision(retryCount: retryCount, method: method, outcome: outcome, now: Date(timeIntervalSince1970: 784_111_777))
    }

    /// The statuses and methods that Alamofire documents.
    @Test func statusesAndMethods() {
        let statuses = (100...599).filter { self.decision(.status($0, [:])) != nil }
        #expect(statuses == [408, 500, 502, 503, 504])
        let methods: [HTTPSession.Method] = [.connect, .delete, .get, .head, .options, .patch, .post, .put, .query, .trace, "get"]
        #expect(
            Set(methods.filter { self.decision(.status(503, [:]), $0) != nil }) == [.delete, .get, .head, .options, .put, .query, .trace])
    }

    @Test func failuresThatMayPass() {
        let kinds = Failure.Kind.allCases.filter { self.decision(.failure($0)) != nil }
        #expect(Set(kinds) == [.dns, .refused, .unreachable, .reset, .timeout, .truncated, .unprocessed])
        #expect(self.decision(.failure(.reset), .post) == nil)
    }

    @Test func twoRetriesAfterGrowingTimes() {
        let times = (0..<4).map { self.decision(.failure(.timeout), retryCount: $0) }
        #expect(times == [.milliseconds(500), .seconds(1), nil, nil])
    }

    @Test func delayOfRetryAfterIsRespected() {
        #expect(self.decision(.status(503, ["Retry-After": "7"])) == .seconds(7))
        #expect(self.decision(.status(503, ["Retry-After": "0"])) == .milliseconds(500))
        #expect(self.decision(.status(503, ["Retry-After": "61"])) == nil)
        #expect(self.decision(.status(503, ["Retry-After": "Sun, 06 Nov 1994 08:49:39 GMT"])) == .seconds(2))
        #expect(self.decision(.status(503, ["Retry-After": "later"])) == .milliseconds(500))
        #expect(self.decision(.status(404, ["Retry-After": "1"])) == nil)
    }

    @Test func timesFarAwayAreNoCrash() {
        for seconds in [-Double.infinity, -1e300, 1e300, .infinity] {
            let decision = self.policy.decision(
                retryCount: 0, method: .get, outcome: .status(503, ["Retry-After": "Sun, 06 Nov 1994 08:49:39 GMT"]),
                now: Date(timeIntervalSince1970: seconds))
            #expect(decision == (seconds < 0 ? nil : .milliseconds(500)))
        }
    }

    // MARK: Use as a retrier

    private func context(_ status: Int?, _ method: HTTPSession.Method = .get, retryCount: Int = 0) throws -> HTTPSession.RequestContext {
        HTTPSession.RequestContext(
            id: UUID(), retryCount: retryCount, request: try SampleResponse.request(method),
            response: try status.map { try SampleResponse.response($0) })
    }

    private func text(_ result: HTTPSession.RetryResult) -> String {
        switch result {
        case .retry: "retry"
        case .retryAfter(let duration): "after \(duration)"
        case .doNotRetry: "no"
        case .doNotRetryWithError: "error"
        }
    }

    @Test func aRequestsStatusOrFailureDecides() async throws {
        let invalid = ValidationError(.unacceptableStatus, status: 503, nil, "")
        #expect(self.text(await self.policy.retry(try self.context(503), dueTo: invalid)) == "after 0.5 seconds")
        #expect(self.text(await self.policy.retry(try self.context(503, retryCount: 1), dueTo: invalid)) == "after 1.0 seconds")
        #expect(self.text(await self.policy.retry(try self.context(503, retryCount: 2), dueTo: invalid)) == "no")
        #expect(self.text(await self.policy.retry(try self.context(503, .post), dueTo: invalid)) == "no")
        #expect(self.text(await self.policy.retry(try self.context(404), dueTo: invalid)) == "no")
        #expect(self.text(await self.policy.retry(try self.context(nil), dueTo: invalid)) == "no")
        let lost = TransportFailure(.network(.reset), "lost")
        #expect(self.text(await self.policy.retry(try self.context(nil), dueTo: lost)) == "after 0.5 seconds")
    }

    @Test func aFailureCountsBeforeAStatus() throws {
        let context = try self.context(503)
        #expect(HTTPSession.RetryPolicy.outcome(context, TransportFailure.cancelled()) == .failure(.cancelled))
        #expect(HTTPSession.RetryPolicy.outcome(context, TransportFailure(.unsupported, "")) == nil)
    }
}

@Suite struct ConnectionLostRetryPolicyTests {
    @Test func onlyALostConnectionIsTriedAgain() async throws {
        let policy: HTTPSession.RetryPolicy = .connectionLost(retryLimit: 1, backoff: HTTPSession.RetryPolicy.ExponentialBackoff(jitter: 0))
        let retried = Failure.Kind.allCases.filter {
            policy.decision(retryCount: 0, method: .get, outcome: .failure($0)) == .milliseconds(500)
        }
        #expect(Set(retried) == [.reset, .truncated])
        #expect(policy.decision(retryCount: 0, method: .get, outcome: .status(503, [:])) == nil)
        let context = HTTPSession.RequestContext(id: UUID(), request: try SampleResponse.request())
        guard case .retryAfter(.milliseconds(500)) = await policy.retry(context, dueTo: TransportFailure(.network(.reset), "")) else {
            Issue.record("a lost connection is not tried again")
            return
        }
        guard
            case .doNotRetry = await (.connectionLost() as HTTPSession.RetryPolicy).retry(
                context, dueTo: TransportFailure(.network(.tls), ""))
        else {
            Issue.record("a TLS failure is tried again")
            return
        }
    }
}

@Suite struct ExponentialBackoffTests {
    @Test func withoutJitterTimesDouble() {
        let backoff = HTTPSession.RetryPolicy.ExponentialBackoff(jitter: 0)
        #expect((0..<4).map { backoff.delay(retryCount: $0) } == [.milliseconds(500), .seconds(1), .seconds(2), .seconds(4)])
        #expect(HTTPSession.RetryPolicy.ExponentialBackoff(base: 3, scale: .seconds(1), jitter: 0).delay(retryCount: 3) == .seconds(27))
        #expect(HTTPSession.RetryPolicy.ExponentialBackoff(base: 0, scale: .seconds(1), jitter: 0).delay(retryCount: 1000) == .seconds(1))
    }

    @Test func noTimePassesTheLimit() {
        let backoff = HTTPSession.RetryPolicy.ExponentialBackoff(jitter: 0)
        for count in [10, 63, 64, 10_000, .max] { #expect(backoff.delay(retryCount: count) == .seconds(300)) }
        #expect(HTTPSession.RetryPolicy.ExponentialBackoff(base: .max, jitter: 0).delay(retryCount: 5) == .seconds(300))
        #expect(
            HTTPSession.RetryPolicy.ExponentialBackoff(scale: .seconds(10), limit: .seconds(3), jitter: 0).delay(retryCount: 0)
                == .seconds(3))
        #expect(backoff.delay(retryCount: -1) == .milliseconds(500))
    }

    @Test func aSeedGivesTheSameTimesAndStaysWithinTheJitter() {
        var seen: Set<Duration> = []
        for seed in 0..<200 as Range<UInt64> {
            let backoff = HTTPSession.RetryPolicy.ExponentialBackoff(jitter: 0.25, seed: seed)
            for count in 0..<5 {
                let whole = HTTPSession.RetryPolicy.ExponentialBackoff(jitter: 0).delay(retryCount: count)
                let delay = backoff.delay(retryCount: count)
                #expect(delay == HTTPSession.RetryPolicy.ExponentialBackoff(jitter: 0.25, seed: seed).delay(retryCount: count))
                #expect(delay <= whole && delay >= whole * 0.75)
                seen.insert(delay)
            }
        }
        #expect(seen.count > 990)
    }

    @Test func oddSettingsAreTakenForTheNearestThatMakeSense() {
        #expect(
            HTTPSession.RetryPolicy.ExponentialBackoff(jitter: .nan).jitter == 0
                && HTTPSession.RetryPolicy.ExponentialBackoff(jitter: 7).jitter == 1
                && HTTPSession.RetryPolicy.ExponentialBackoff(jitter: -1).jitter == 0)
        #expect(HTTPSession.RetryPolicy.ExponentialBackoff(scale: .seconds(-1), jitter: 0).delay(retryCount: 3) == .zero)
        #expect(HTTPSession.RetryPolicy.ExponentialBackoff().seed != HTTPSession.RetryPolicy.ExponentialBackoff().seed)
    }
}

@Suite struct RetryAfterTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT
    private let now = Timestamp(microseconds: 784_111_777_000_000)

    @Test(
        arguments: [
            ("120", .seconds(120)), ("0", .zero), (" 5 ", .seconds(5)), ("99999999999999999999", .seconds(2_147_483_647)),
            ("Sun, 06 Nov 1994 08:50:37 GMT", .seconds(60)), ("Sunday, 06-Nov-94 08:49:38 GMT", .seconds(1)),
            ("Sun Nov  6 08:49:47 1994", .seconds(10)),
            ("Sun, 06 Nov 1994 08:49:00 GMT", .zero), ("-1", nil), ("", nil), ("soon", nil), ("1.5", nil), ("١", nil),
        ] as [(String, Duration?)]) func secondsAndDates(text: String, delay: Duration?)
    {
        #expect(RetryAfter(["Retry-After": text], now: self.now)?.delay == delay)
    }

    @Test func aDateCountsFromTheServersOwnClock() {
        let headers: HTTPSession.Headers = ["Retry-After": "Sun, 06 Nov 1994 08:50:37 GMT", "Date": "Sun, 06 Nov 1994 08:50:30 GMT"]
        #expect(RetryAfter(headers, now: self.now)?.delay == .seconds(7))
        #expect(RetryAfter([:], now: self.now) == nil)
    }
}
