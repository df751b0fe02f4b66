import Foundation
import Testing

@testable import Wiretape

@Suite struct HandlerQueueTests {
    private static let outcome = RequestOutcome(
        id: UUID(), attempts: [RequestAttempt(redirects: [])], data: Data(), fileURL: nil, trailers: [:],
        metrics: RequestMetrics(timeline: Timeline(startTime: Date())), start: .zero, error: nil)

    @Test func eachStartsWhenTheOneBeforeHasReturned() {
        let calls = Collected<Int>()
        var line = HandlerQueue()
        line.add { _, done in
            calls.add(1); done()
        }
        line.add { _, done in
            calls.add(2); done()
        }
        #expect(!line.canStart)
        line.open()
        line.start()?(Self.outcome) {}
        #expect(!line.canStart, "the first has not returned")
        line.handlerReturned()
        line.start()?(Self.outcome) {}
        line.handlerReturned()
        #expect(!line.canStart)
        line.add { _, done in
            calls.add(3); done()
        }
        line.start()?(Self.outcome) {}
        #expect(calls.all == [1, 2, 3])
    }
}
