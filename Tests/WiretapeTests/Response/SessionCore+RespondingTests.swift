import Foundation
import Testing

@testable import Wiretape

@Suite struct SessionCoreRespondingTests {
    private func outcome(_ error: WiretapeError? = nil) -> RequestOutcome {
        let attempt = RequestAttempt(request: .make("GET", "http://a.test/", headers: [("A", "1")]), redirects: [], error: error)
        return RequestOutcome(
            id: UUID(), attempts: [attempt], data: Data("x".utf8), fileURL: nil, trailers: [:],
            metrics: RequestMetrics(timeline: Timeline(startTime: Date())), start: .zero, error: error)
    }

    @Test func aSerializerIsAskedOnlyWhereThereIsAnAnswer() {
        let core = SessionCore(Session.Configuration(), transport: ScriptedTransport())
        let calls = Collected<Int>()
        #expect(core.respond(self.outcome(.cancelled), CountingSerializer(calls: calls)).error?.isCancelled == true)
        #expect(core.respond(download: self.outcome(.cancelled), CountingSerializer(calls: calls)).error?.isCancelled == true)
        #expect(calls.all.isEmpty)
        #expect(core.respond(self.outcome(), CountingSerializer(calls: calls)).value == 1)
        #expect(core.respond(download: self.outcome(), CountingSerializer(calls: calls)).value == 2)
        #expect(calls.all == [1, 1], "the fields that went out are seen")
    }
}
