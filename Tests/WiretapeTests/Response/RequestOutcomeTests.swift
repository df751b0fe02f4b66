import Foundation
import Testing

@testable import Wiretape

@Suite struct RequestOutcomeTests {
    @Test func theLastAttemptCounts() {
        let attempts = [RequestAttempt(redirects: [], error: .cancelled), RequestAttempt(redirects: [], error: nil)]
        let outcome = RequestOutcome(
            id: UUID(), attempts: attempts, data: Data(), fileURL: nil, trailers: [:],
            metrics: RequestMetrics(timeline: Timeline(startTime: Date())), start: .zero, error: nil)
        #expect(outcome.last.error == nil)
    }
}
