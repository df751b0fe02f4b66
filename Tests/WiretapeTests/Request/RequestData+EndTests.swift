import Foundation
import Testing

@testable import Wiretape

@Suite struct RequestDataEndTests {
    @Test func theOutcomeHasAllAttempts() {
        var data = RequestData()
        data.begin(.make("GET", "http://a.test/"), at: .zero)
        data.earlier = [data.attempt(WiretapeError(.network, "first"))]
        data.body = Data("x".utf8)
        let ending = data.end(id: UUID(), error: nil, file: nil, now: .seconds(2))
        #expect(ending.outcome.attempts.map { $0.error?.message } == ["first", nil])
        #expect(ending.outcome.data == Data("x".utf8))
        #expect(ending.outcome.metrics.timeline.requestDuration == .seconds(2))
        #expect(data.outcome === ending.outcome)
        #expect(data.download.isLast && ending.progress.isEmpty)
    }
}
