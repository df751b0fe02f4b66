import Foundation
import Testing
@testable import Wiretape

@Suite struct RequestDataTests {
    @Test func anExchangeStartsWithoutTheStateOfTheLastOne() throws {
        var data = RequestData()
        data.start = .seconds(1)
        data.body = Data("x".utf8)
        data.trailers = ["A": "1"]
        data.isRedirect = true
        data.isPaused = true
        data.response = HTTPSession.Response(url: URL(fileURLWithPath: "/"), status: 302)
        let request = TransportRequest.make("GET", "http://a.test/")
        data.begin(request, at: .seconds(3))
        #expect(data.body.isEmpty && data.trailers.isEmpty && !data.isRedirect && !data.isPaused && data.response == nil)
        #expect(data.attempt(nil).request?.url == request.url)
        #expect(data.metrics.metrics.hops.map(\.sentAt) == [.seconds(2)])
    }

    @Test func directionsAreCountedApart() {
        var data = RequestData()
        data[.upload].advance(by: 2)
        data[.download].advance(by: 3)
        #expect(data.upload.progress.completedUnitCount == 2)
        #expect(data[.download].progress.completedUnitCount == 3)
    }
}

@Suite struct HandlerQueueTests {
    private static let outcome = RequestOutcome(
        id: UUID(), attempts: [HTTPSession.RequestAttempt(redirects: [])], data: Data(), fileURL: nil, trailers: [:],
        metrics: RequestMetrics(timeline: RequestMetrics.Timeline(startTime: Date())), start: .zero, error: nil)

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
