import Foundation
import Testing

@testable import Wiretape

@Suite struct ConnectionLostRetryPolicyTests {
    @Test func onlyALostConnectionIsTriedAgain() async throws {
        let retrier = ConnectionLostRetryPolicy(retryLimit: 1, backoff: ExponentialBackoff(jitter: 0))
        let retried = Failure.Kind.allCases.filter {
            retrier.policy.decision(retryCount: 0, method: .get, outcome: .failure($0)) == .milliseconds(500)
        }
        #expect(Set(retried) == [.reset, .truncated])
        #expect(retrier.policy.decision(retryCount: 0, method: .get, outcome: .status(503, [:])) == nil)
        let context = RequestContext(id: UUID(), request: try SampleResponse.request())
        guard case .retryAfter(.milliseconds(500)) = await retrier.retry(context, dueTo: TransportFailure(.network(.reset), "")) else {
            Issue.record("a lost connection is not tried again")
            return
        }
        guard
            case .doNotRetry = await (.connectionLost as ConnectionLostRetryPolicy).retry(
                context, dueTo: TransportFailure(.network(.tls), ""))
        else {
            Issue.record("a TLS failure is tried again")
            return
        }
    }
}
