import Foundation
import Testing

@testable import Wiretape

@Suite struct RetryPolicyTests {
    private let policy = RetryPolicy(backoff: ExponentialBackoff(jitter: 0))

    private func decision(_ outcome: RetryOutcome, _ method: HTTPMethod = .get, retryCount: Int = 0) -> Duration? {
        self.policy.decision(retryCount: retryCount, method: method, outcome: outcome, now: Date(timeIntervalSince1970: 784_111_777))
    }

    /// The statuses and methods that Alamofire documents.
    @Test func statusesAndMethods() {
        let statuses = (100...599).filter { self.decision(.status($0, [:])) != nil }
        #expect(statuses == [408, 500, 502, 503, 504])
        let methods: [HTTPMethod] = [.connect, .delete, .get, .head, .options, .patch, .post, .put, .query, .trace, "get"]
        #expect(
            Set(methods.filter { self.decision(.status(503, [:]), $0) != nil }) == [.delete, .get, .head, .options, .put, .query, .trace])
    }

    @Test func failuresThatMayPass() {
        let kinds = Failure.Kind.allCases.filter { self.decision(.failure($0)) != nil }
        #expect(Set(kinds) == [.dns, .refused, .unreachable, .reset, .timeout, .truncated])
        #expect(self.decision(.failure(.reset), .post) == nil)
    }

    @Test func twoRetriesAfterGrowingTimes() {
        let times = (0..<4).map { self.decision(.failure(.timeout), retryCount: $0) }
        #expect(times == [.milliseconds(500), .seconds(1), nil, nil])
    }

    @Test func whatTheServerAsksForIsWaitedFor() {
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

    // MARK: As a retrier

    private func context(_ status: Int?, _ method: HTTPMethod = .get, retryCount: Int = 0) throws -> RequestContext {
        RequestContext(
            id: UUID(), retryCount: retryCount, request: try SampleResponse.request(method),
            response: try status.map { try SampleResponse.response($0) })
    }

    private func text(_ result: RetryResult) -> String {
        switch result {
        case .retry: "retry"
        case .retryAfter(let duration): "after \(duration)"
        case .doNotRetry: "no"
        case .doNotRetryWithError: "error"
        }
    }

    @Test func aRequestsStatusOrFailureDecides() async throws {
        let invalid = ValidationError(.unacceptableStatus, status: 503, "")
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
        #expect(RetryPolicy.outcome(context, TransportFailure.cancelled()) == .failure(.cancelled))
        #expect(RetryPolicy.outcome(context, TransportFailure(.unsupported, "")) == nil)
    }
}
