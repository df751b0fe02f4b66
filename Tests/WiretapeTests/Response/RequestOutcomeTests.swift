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

    @Test func aBodyIsThereOnlyWithAnAnswer() throws {
        func body(_ response: HTTPResponse?) -> Data? {
            RequestOutcome(
                id: UUID(), attempts: [RequestAttempt(response: response, redirects: [], error: nil)], data: Data(), fileURL: nil,
                trailers: [:], metrics: RequestMetrics(timeline: Timeline(startTime: Date())), start: .zero, error: nil
            ).body
        }
        #expect(body(nil) == nil)
        #expect(body(try SampleResponse.response(204)) == Data())
    }
}
