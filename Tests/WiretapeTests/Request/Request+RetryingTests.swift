import CassetteModel
import CassetteStore
import Foundation
import TapeTestSupport
import Testing

@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct RequestRetryingTests {
    private static func retrier(_ result: RetryResult, upTo limit: Int = 1) -> Retrier {
        Retrier { context, _ in context.retryCount < limit ? result : .doNotRetry }
    }

    @Test func aFailedRequestIsSentAgainAndAdaptedAnew() async throws {
        let transport = ScriptedTransport { exchange, number in
            if number < 3 { exchange.send(.failed(TransportFailure(.network(.reset), "reset"))) } else { exchange.answer(200, [:], "ok") }
        }
        let counting = Adapter { request, context in
            var request = request
            request.setValue("\(context.retryCount)", forHTTPHeaderField: "X-Retry")
            return request
        }
        let session = Session.plain(transport) { $0.interceptors = [counting, Self.retrier(.retry, upTo: 5)] }
        let request = session.request("http://a.test/")
        let response = await request.serializingString().response
        #expect(response.value == "ok")
        #expect(request.retryCount == 2)
        #expect(transport.requests.map { $0.headers["X-Retry"] } == ["0", "1", "2"])
        #expect(response.attempts.map { $0.error?.networkFailure } == [.reset, .reset, nil])
        #expect(response.metrics.hops.map(\.retryCount) == [0, 1, 2])
    }

    @Test func aWaitIsOnTheSessionsClock() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport { exchange, number in exchange.answer(number == 1 ? 503 : 200, [:], "x") }
        let session = Session.plain(transport) {
            $0.clock = clock
            $0.timeouts.idle = nil
        }
        let request = session.request("http://a.test/", interceptor: Self.retrier(.retryAfter(.seconds(3)))).validate()
        let task = request.serializingString()
        await clock.sleepers(1)
        #expect(transport.requests.count == 1)
        clock.advance(by: .seconds(3))
        #expect(try await task.value == "x")
    }

    @Test func nobodyWaitsForACassette() async throws {
        let transport = ScriptedTransport { exchange, number in
            exchange.answer(number == 1 ? 503 : 200, [:], "x", source: .replayed(cassette: "c", id: number))
        }
        let session = Session.plain(transport) { $0.clock = ManualClock() }
        let request = session.request("http://a.test/", interceptor: Self.retrier(.retryAfter(.seconds(3)))).validate()
        #expect(try await request.serializingString().value == "x")
    }

    @Test func theFirstRetrierThatWantsSomethingDecides() async {
        let transport = ScriptedTransport { exchange, _ in exchange.answer(500) }
        let other = WiretapeError(.retrier, "enough")
        let session = Session.plain(transport) { $0.interceptors = [Self.retrier(.doNotRetry), Self.retrier(.doNotRetryWithError(other))] }
        let error = await session.request("http://a.test/").validate().serializingData().response.error
        #expect(error?.message == "enough")
        #expect(transport.requests.count == 1)
    }

    @Test func cancelledWhileItWaitsItIsNotSentAgain() async {
        let clock = ManualClock()
        let transport = ScriptedTransport { exchange, _ in exchange.answer(500) }
        let session = Session.plain(transport) {
            $0.clock = clock
            $0.timeouts.idle = nil
        }
        let request = session.request("http://a.test/", interceptor: Self.retrier(.retryAfter(.seconds(9)))).validate()
        let task = request.serializingData()
        await clock.sleepers(1)
        request.cancel()
        #expect(await task.response.error?.isCancelled == true)
        #expect(transport.requests.count == 1)
    }

    @Test func whatAReaderHasTakenIsNotSentAgain() async {
        let transport = ScriptedTransport { exchange, _ in
            exchange.head()
            exchange.chunk("x")
            exchange.send(.failed(TransportFailure(.network(.reset), "reset")))
        }
        let session = Session.plain(transport) { $0.interceptors = [Self.retrier(.retry, upTo: 5)] }
        await #expect(throws: WiretapeError.self) {
            for try await _ in session.stream("http://a.test/").bytes {}
        }
        #expect(transport.requests.count == 1)
    }

    @Test func nobodyWaitsForAFailureThatWasRecorded() async throws {
        let folder = try TemporaryFolder()
        var failed = CassetteFixture.interaction(1, url: "http://a.test/")
        failed.response = nil
        failed.outcome = .failed(Failure(kind: .refused, message: "refused"))
        let whole = CassetteFixture.interaction(2, url: "http://a.test/", body: CassetteFixture.text("x"))
        try CassetteFixture.write([failed, whole], to: folder.file("a.json"))
        let cassette = try Cassette(folder.file("a.json"), mode: .once)
        let session = Session.plain(RecordingTransport(cassette, around: ScriptedTransport())) {
            $0.clock = ManualClock()
            $0.timeouts.idle = nil
        }
        let request = session.request("http://a.test/", interceptor: Self.retrier(.retryAfter(.seconds(9))))
        #expect(await request.serializingString().response.value == "x")
    }

    @Test func nothingOfAnAttemptIsLeftInTheNext() async throws {
        let transport = ScriptedTransport { exchange, _ in exchange.answer(500, [:], "first") }
        let session = Session.plain(transport)
        let interceptor = Interceptor(
            adapt: { request, context in
                guard context.retryCount == 0 else { throw URLError(.userAuthenticationRequired) }
                return request
            },
            retry: { context, _ in context.retryCount == 0 ? .retry : .doNotRetry })
        let request = session.request("http://a.test/", interceptor: interceptor).validate()
        let outcome = await request.resume().outcome()
        #expect(outcome.error?.code == .adapter)
        #expect(outcome.last.response == nil)
        #expect(outcome.data.isEmpty)
    }

    /// A cassette that neither records nor replays.
    @Test func aServerThatIsAskedThroughAPassthroughIsWaitedFor() async throws {
        let inner = ScriptedTransport { exchange, number in exchange.answer(number == 1 ? 503 : 200, [:], "x") }
        let folder = try TemporaryFolder()
        let cassette = try Cassette(folder.file("a.json"), mode: .passthrough)
        let delays = Collected<Duration>()
        let session = Session.plain(RecordingTransport(cassette, around: inner)) {
            $0.clock = ImmediateClock()
            $0.interceptors = [Self.retrier(.retryAfter(.seconds(5)))]
            $0.eventMonitors = [
                ClosureEventMonitor { event in if case .retried(_, let delay, _) = event.kind { delays.add(delay) } }
            ]
        }
        #expect(await session.request("http://a.test/").validate().serializingData().response.error == nil)
        #expect(delays.all == [.seconds(5)])
    }
}
