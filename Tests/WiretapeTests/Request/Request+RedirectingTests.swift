import CassetteModel
import CassetteStore
import Foundation
import TapeTestSupport
import Testing
@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct RequestRedirectingTests {
    private static func transport(_ status: Int, to location: String = "/b") -> ScriptedTransport {
        ScriptedTransport { exchange, _ in
            if exchange.request.url.path == "/a" {
                exchange.answer(status, ["Location": location], "moved")
            } else {
                exchange.answer(200, [:], "there")
            }
        }
    }

    @Test(arguments: [(303, "GET", false), (307, "POST", true), (302, "GET", false)])
    func redirectsAreFollowed(status: Int, method: String, keepsBody: Bool) async throws {
        let transport = Self.transport(status)
        let session = HTTPSession.plain(transport)
        let response = await session.upload(Data("body".utf8), to: "http://a.test/a").serializingString().response
        #expect(response.value == "there")
        #expect(response.url?.path == "/b")
        #expect(response.redirects.map(\.response.status) == [status])
        #expect(response.redirects.first?.request.url.path == "/a")
        #expect(transport.requests[1].method == method)
        #expect((transport.requests[1].body.size == 4) == keepsBody)
    }

    @Test func aHandlerMayTakeTheRedirectForTheAnswer() async throws {
        let transport = Self.transport(302)
        let session = HTTPSession.plain(transport) { $0.redirectHandler = HTTPSession.Redirector.doNotFollow }
        let response = await session.request("http://a.test/a").serializingString().response
        #expect(response.response?.status == 302)
        #expect(response.value == "moved")
        #expect(transport.requests.count == 1)
    }

    @Test func aRequestsHandlerComesBeforeTheSessions() async throws {
        let transport = Self.transport(302)
        let session = HTTPSession.plain(transport) { $0.redirectHandler = HTTPSession.Redirector.doNotFollow }
        let elsewhere = HTTPSession.Redirector.modify { request, _, _ in
            var request = request
            request.url = URL(string: "http://a.test/c")
            return request
        }
        _ = await session.request("http://a.test/a").redirect(using: elsewhere).serializingString().response
        #expect(transport.requests.map(\.url.path) == ["/a", "/c"])
    }

    @Test func aCircleEnds() async {
        let transport = Self.transport(302, to: "/a")
        let error = await HTTPSession.plain(transport).request("http://a.test/a").serializingData().response.error
        #expect(error?.code == .redirect)
        #expect((error?.cause as? RedirectError)?.code == .tooManyRedirects)
        #expect(transport.requests.count == 21)
    }

    @Test func handlerCanAcceptARedirectThatCannotBeFollowed() async {
        let transport = Self.transport(302, to: "ftp://a.test/")
        let session = HTTPSession.plain(transport)
        #expect(await session.request("http://a.test/a").serializingData().response.error?.code == .redirect)
        let taken = await session.request("http://a.test/a").redirect(using: HTTPSession.Redirector.doNotFollow).serializingString()
            .response
        #expect(taken.value == "moved")
        let followed = await session.request("http://a.test/a").redirect(using: HTTPSession.Redirector.follow).serializingString().response
        #expect(followed.error?.code == .redirect)
    }

    @Test func credentialsStayWithTheirOrigin() async {
        let transport = Self.transport(307, to: "http://b.test/b")
        _ = await HTTPSession.plain(transport).request("http://a.test/a", headers: ["Authorization": "secret", "X": "1"]).serializingData()
            .response
        #expect(transport.requests[1].headers == ["X": "1"])
    }

    @Test func aRedirectsBodyIsNotTheDownload() async throws {
        let session = HTTPSession.plain(Self.transport(302))
        let file = try await session.download("http://a.test/a").serializingDownloadedFileURL().value
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Data(contentsOf: file) == Data("there".utf8))
    }
}

@Suite struct RequestRetryingTests {
    private static func retrier(_ result: HTTPSession.RetryResult, upTo limit: Int = 1) -> HTTPSession.Interceptor {
        HTTPSession.Interceptor.retrying { context, _ in context.retryCount < limit ? result : .doNotRetry }
    }

    @Test func aFailedRequestIsSentAndAdaptedAgain() async throws {
        let transport = ScriptedTransport { exchange, number in
            if number < 3 { exchange.send(.failed(TransportFailure(.network(.reset), "reset"))) } else { exchange.answer(200, [:], "ok") }
        }
        let counting = HTTPSession.Interceptor.adapting { request, context in
            var request = request
            request.setValue("\(context.retryCount)", forHTTPHeaderField: "X-Retry")
            return request
        }
        let session = HTTPSession.plain(transport) { $0.interceptors = [counting, Self.retrier(.retry, upTo: 5)] }
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
        let session = HTTPSession.plain(transport) {
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

    @Test func replayedRetriesDoNotWait() async throws {
        let transport = ScriptedTransport { exchange, number in
            exchange.answer(number == 1 ? 503 : 200, [:], "x", source: .replayed(cassette: "c", id: number))
        }
        let session = HTTPSession.plain(transport) { $0.clock = ManualClock() }
        let request = session.request("http://a.test/", interceptor: Self.retrier(.retryAfter(.seconds(3)))).validate()
        #expect(try await request.serializingString().value == "x")
    }

    @Test func theFirstRetrierThatWantsSomethingDecides() async {
        let transport = ScriptedTransport { exchange, _ in exchange.answer(500) }
        let other = WiretapeError(.retrier, "enough")
        let session = HTTPSession.plain(transport) {
            $0.interceptors = [Self.retrier(.doNotRetry), Self.retrier(.doNotRetryWithError(other))]
        }
        let error = await session.request("http://a.test/").validate().serializingData().response.error
        #expect(error?.message == "enough")
        #expect(transport.requests.count == 1)
    }

    @Test func cancelledWhileItWaitsItIsNotSentAgain() async {
        let clock = ManualClock()
        let transport = ScriptedTransport { exchange, _ in exchange.answer(500) }
        let session = HTTPSession.plain(transport) {
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

    @Test func requestIsNotRetriedAfterBytesWereRead() async {
        let transport = ScriptedTransport { exchange, _ in
            exchange.head()
            exchange.chunk("x")
            exchange.send(.failed(TransportFailure(.network(.reset), "reset")))
        }
        let session = HTTPSession.plain(transport) { $0.interceptors = [Self.retrier(.retry, upTo: 5)] }
        await #expect(throws: WiretapeError.self) {
            for try await _ in session.stream("http://a.test/").bytes {}
        }
        #expect(transport.requests.count == 1)
    }

    @Test func retriesAfterARecordedFailureDoNotWait() async throws {
        let folder = try TemporaryFolder()
        var failed = CassetteFixture.interaction(1, url: "http://a.test/")
        failed.response = nil
        failed.outcome = .failed(Failure(kind: .refused, message: "refused"))
        let whole = CassetteFixture.interaction(2, url: "http://a.test/", body: CassetteFixture.text("x"))
        try CassetteFixture.write([failed, whole], to: folder.file("a.json"))
        let cassette = try Cassette(folder.file("a.json"), mode: .once)
        let session = HTTPSession.plain(RecordingTransport(cassette, around: ScriptedTransport())) {
            $0.clock = ManualClock()
            $0.timeouts.idle = nil
        }
        let request = session.request("http://a.test/", interceptor: Self.retrier(.retryAfter(.seconds(9))))
        #expect(await request.serializingString().response.value == "x")
    }

    @Test func nothingOfAnAttemptIsLeftInTheNext() async throws {
        let transport = ScriptedTransport { exchange, _ in exchange.answer(500, [:], "first") }
        let session = HTTPSession.plain(transport)
        let interceptor = HTTPSession.Interceptor(
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

    /// The cassette neither records nor replays.
    @Test func aServerThatIsAskedThroughAPassthroughIsWaitedFor() async throws {
        let inner = ScriptedTransport { exchange, number in exchange.answer(number == 1 ? 503 : 200, [:], "x") }
        let folder = try TemporaryFolder()
        let cassette = try Cassette(folder.file("a.json"), mode: .passthrough)
        let delays = Collected<Duration>()
        let session = HTTPSession.plain(RecordingTransport(cassette, around: inner)) {
            $0.clock = ImmediateClock()
            $0.interceptors = [Self.retrier(.retryAfter(.seconds(5)))]
            $0.eventMonitors = [
                HTTPSession.ClosureEventMonitor { event in if case .retried(_, let delay, _) = event.kind { delays.add(delay) } }
            ]
        }
        #expect(await session.request("http://a.test/").validate().serializingData().response.error == nil)
        #expect(delays.all == [.seconds(5)])
    }
}

@Suite struct RequestSendingTests {
    private let transport = ScriptedTransport { exchange, _ in exchange.answer() }

    private static func adding(_ value: String) -> HTTPSession.Interceptor {
        HTTPSession.Interceptor.adapting { request, _ in
            var request = request
            request.setValue((request.value(forHTTPHeaderField: "X-Way") ?? "") + value, forHTTPHeaderField: "X-Way")
            return request
        }
    }

    @Test func theRequestsAdapterComesBeforeTheSessions() async {
        let session = HTTPSession.plain(self.transport) { $0.interceptors = [Self.adding("b"), Self.adding("c")] }
        let headers: HTTPSession.Headers = ["Z": "1", "A": "2", "Z": "3"]
        _ = await session.request("http://a.test/", headers: headers, interceptor: Self.adding("a")).serializingData().response
        #expect(self.transport.requests.first?.headers == ["Z": "1", "A": "2", "Z": "3", "X-Way": "abc"])
    }

    @Test func errorOfAnAdapterIsTheRequestsError() async {
        let session = HTTPSession.plain(self.transport)
        let request = session.request(
            "http://a.test/", interceptor: HTTPSession.Interceptor.adapting { _, _ in throw URLError(.userAuthenticationRequired) })
        let error = await request.serializingData().response.error
        #expect(error?.code == .adapter)
        #expect(error?.cause is URLError)
        #expect(self.transport.requests.isEmpty)
    }

    @Test func cancellingTheRequestCancelsTheAdapter() async {
        let clock = ManualClock()
        let session = HTTPSession.plain(self.transport)
        let request = session.request(
            "http://a.test/",
            interceptor: HTTPSession.Interceptor.adapting { request, _ in
                try await clock.sleep(for: .seconds(1))
                return request
            })
        let task = request.serializingData()
        await clock.sleepers(1)
        request.cancel()
        #expect(await task.response.error?.isCancelled == true)
        #expect(clock.sleeperCount == 0)
        #expect(self.transport.requests.isEmpty)
    }

    @Test func credentialsGoOutWithTheFirstAttempt() async {
        let session = HTTPSession.plain(self.transport)
        _ = await session.request("http://a.test/", headers: ["authorization": "x"]).authenticate(username: "u", password: "p")
            .serializingData().response
        #expect(self.transport.requests.first?.headers["Authorization"] == "Basic dTpw")
        #expect(self.transport.requests.first?.headers.count == 1)
    }
}

@Suite struct RequestSerializingTests {
    @Test func serializersOfOthersSeeAllFields() async throws {
        let calls = Collected<Int>()
        let session = HTTPSession.answering(200, [:], "x")
        let request = session.request("http://a.test/", headers: ["A": "1", "B": "2"])
        _ = try await request.serializing(CountingSerializer(calls: calls)).value
        #expect(calls.all == [2])
    }

    @Test func theirTimeIsPartOfTheTimeline() async throws {
        let clock = ManualClock()
        let session = HTTPSession.plain(ScriptedTransport { exchange, _ in exchange.answer(200, [:], "x") }) { $0.clock = clock }
        let task = session.request("http://a.test/").serializingString()
        clock.advance(by: .seconds(2))
        let timeline = await task.response.timeline
        #expect(timeline.requestDuration == .zero)
        #expect(timeline.serializationDuration == .seconds(2))
    }

    @Test func afterAFailureNothingIsSerialized() async {
        let calls = Collected<Int>()
        let session = HTTPSession.plain(
            ScriptedTransport { exchange, _ in exchange.send(.failed(TransportFailure(.network(.refused), "no"))) })
        let response = await session.request("http://a.test/").serializing(CountingSerializer(calls: calls)).response
        #expect(response.error?.networkFailure == .refused)
        #expect(calls.all.isEmpty)
    }
}
