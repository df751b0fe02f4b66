import Foundation
import Testing

@testable import Wiretape

@Suite struct ResponseTextTests {
    @Test func attemptsAreNumberedWhereThereAreMore() throws {
        let first = RequestAttempt(
            request: .make("GET", "http://a.test/"), response: nil, redirects: [], error: WiretapeError(.network, "reset"))
        var last = first
        last.error = nil
        last.response = HTTPResponse(url: try "http://a.test/".asURL(), status: 200, reason: "OK", source: .recorded(cassette: "c", id: 2))
        let metrics = RequestMetrics(timeline: Timeline(startTime: Date()))
        let outcome = RequestOutcome(
            id: UUID(), attempts: [first, last], data: Data([1]), fileURL: nil, trailers: [:], metrics: metrics, start: .zero, error: nil)
        #expect(
            ResponseText.lines(outcome, metrics: metrics, result: "success").prefix(6) == [
                "[Attempt 1] [Request]: GET http://a.test/", "[Attempt 1] [Response]: none received", "[Attempt 1] [Error]: reset",
                "[Attempt 2] [Request]: GET http://a.test/",
                "[Attempt 2] [Response]: 200 OK, 0 header fields, from the network, recorded as exchange 2 of \"c\"", "[Body]: 1 bytes",
            ])
    }
}
