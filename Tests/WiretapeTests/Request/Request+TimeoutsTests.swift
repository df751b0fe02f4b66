import CassetteModel
import Foundation
import TapeBytes
import Testing
@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct RequestTimeoutsTests {
    private let clock = ManualClock()
    private let transport = ScriptedTransport(obeysCancels: false)

    private func session(_ timeouts: HTTPSession.Timeouts, _ interceptors: [any HTTPSession.RequestInterceptor] = []) -> HTTPSession {
        .plain(self.transport) {
            $0.clock = self.clock
            $0.timeouts = timeouts
            $0.interceptors = interceptors
        }
    }

    @Test func aTransportThatHangsIsGivenUp() async {
        let session = self.session(HTTPSession.Timeouts(idle: .milliseconds(500)))
        let task = session.request("http://a.test/slow").serializingData()
        let exchange = await self.transport.exchange(1)
        await self.clock.sleepers(1)
        self.clock.advance(by: .milliseconds(500))
        let error = await task.response.error
        #expect(error?.code == .timedOut)
        #expect(error?.networkFailure == .timeout)
        #expect(
            error?.message
                == "GET \"http://a.test/slow\" timed out after 0.5 seconds without progress, waiting for the response head: raise timeouts.idle of the session's configuration, or check what the server does"
        )
        #expect(exchange.isCancelled)
    }

    @Test func eachEventGivesMoreTime() async throws {
        let session = self.session(HTTPSession.Timeouts(idle: .seconds(1)))
        let task = session.request("http://a.test/").serializingString()
        let exchange = await self.transport.exchange(1)
        await self.clock.sleepers(1)
        self.clock.advance(by: .milliseconds(900))
        exchange.head(200, ["Content-Length": "10"])
        exchange.chunk("abc")
        self.clock.advance(by: .milliseconds(900))
        await self.clock.sleepers(1)
        self.clock.advance(by: .milliseconds(100))
        let message = await task.response.error?.message
        #expect(message?.contains("waiting for the rest of the response with status 200, 3 of 10 bytes so far") == true)
    }

    @Test func theTotalTimeIsNotGivenAgainByARetry() async {
        let session = self.session(
            HTTPSession.Timeouts(idle: nil, total: .seconds(2)), [HTTPSession.Interceptor.retrying { _, _ in .retry }])
        let task = session.request("http://a.test/").serializingData()
        let exchange = await self.transport.exchange(1)
        await self.clock.sleepers(1)
        self.clock.advance(by: .seconds(1))
        exchange.send(.failed(TransportFailure(.network(.reset), "reset")))
        _ = await self.transport.exchange(2)
        self.clock.advance(by: .seconds(1))
        let error = await task.response.error
        #expect(error?.code == .timedOut)
        #expect(error?.message.contains("2.0 seconds in total") == true)
        #expect(self.transport.requests.count == 2)
    }

    @Test func anIdleRequestMayBeRetried() async throws {
        let session = self.session(
            HTTPSession.Timeouts(idle: .seconds(1)),
            [HTTPSession.Interceptor.retrying { context, _ in context.retryCount == 0 ? .retry : .doNotRetry }])
        let task = session.request("http://a.test/").serializingString()
        _ = await self.transport.exchange(1)
        await self.clock.sleepers(1)
        self.clock.advance(by: .seconds(1))
        await self.transport.exchange(2).answer(200, [:], "ok")
        #expect(try await task.value == "ok")
    }

    @Test func anAnswerAtOnceArmsNothing() async {
        let transport = ScriptedTransport { exchange, _ in exchange.answer() }
        let session = HTTPSession.plain(transport) { $0.clock = self.clock }
        let request = session.request("http://a.test/")
        _ = await request.serializingData().response
        #expect(self.clock.sleeperCount == 0)
        #expect(request.data.withLock { $0.watchTask == nil })
    }

    @Test func theWatchEndsWithItsRequest() async throws {
        let session = self.session(HTTPSession.Timeouts(idle: .seconds(1)))
        let task = session.request("http://a.test/").serializingData()
        let exchange = await self.transport.exchange(1)
        await self.clock.sleepers(1)
        exchange.answer()
        _ = try? await task.value
        #expect(self.clock.sleeperCount == 0)
    }

    @Test func aTimeOfTheRequestThatIsFoundLateCounts() async throws {
        let session = self.session(HTTPSession.Timeouts(idle: .seconds(60)))
        let clock = self.clock
        var given = try URLRequest(url: "http://a.test/", method: .post)
        given.timeoutInterval = 0.5
        let watched = DispatchSemaphore(value: 0)
        let request = session.upload(
            multipartFormData: { form in
                watched.wait()
                try form.append(Array("x".utf8), name: "a")
            }, with: given)
        let task = request.serializingData()
        await clock.sleepers(1)
        watched.signal()
        _ = await self.transport.exchange(1)
        await clock.sleepers(1)
        clock.advance(by: .milliseconds(500))
        #expect(await task.response.error?.code == .timedOut)
        #expect(clock.now.offset == .milliseconds(500))
    }

    @Test func timesWithoutEndAreKept() async {
        let session = HTTPSession.plain(self.transport) {
            $0.timeouts = HTTPSession.Timeouts(idle: .seconds(Int64.max), total: .seconds(Int64.max))
        }
        let task = session.request("http://a.test/").serializingString()
        let exchange = await self.transport.exchange(1)
        exchange.answer(200, [:], "x")
        #expect(await task.response.value == "x")
    }

    @Test func aClockThatNeverWaitsKeepsNoLimits() async {
        let session = HTTPSession.plain(self.transport) {
            $0.clock = ImmediateClock()
            $0.timeouts = HTTPSession.Timeouts(idle: .milliseconds(1), total: .milliseconds(2))
        }
        let request = session.request("http://a.test/slow")
        let task = request.serializingData()
        let exchange = await self.transport.exchange(1)
        #expect(request.data.withLock { $0.watchTask == nil })
        exchange.answer(200, [:], "late")
        #expect(await task.response.value == Data("late".utf8))
    }
}

@Suite struct RequestValidationTests {
    @Test func withoutARuleEveryAnswerIsOne() async throws {
        #expect(try await HTTPSession.answering(404, [:], "x").request("http://a.test/").serializingString().value == "x")
    }

    @Test func theFirstRuleThatDoesNotHoldIsTheError() async {
        let session = HTTPSession.answering(404, ["Content-Type": "text/html"], "x")
        let response = await session.request("http://a.test/").validate(statusCode: [404]).validate(contentType: ["application/json"])
            .validate(statusCode: [200]).serializingString().response
        #expect(response.error?.code == .validation)
        #expect((response.error?.cause as? ValidationError)?.code == .unacceptableContentType)
        #expect(response.data == Data("x".utf8))
        #expect(response.response?.status == 404)
    }

    @Test func ownRulesSeeTheBody() async {
        let session = HTTPSession.answering(200, [:], "bad")
        let rule = HTTPSession.Validation { request, _, data in
            if data == Data("bad".utf8), request?.url?.host == "a.test" { throw TransportFailure(.unsupported, "bad body") }
        }
        #expect(await session.request("http://a.test/").validate(rule).serializingData().response.error?.message == "bad body")
    }

    @Test func aClosureGetsRequestResponseAndBody() async {
        let response = await HTTPSession.answering(418, [:], "tea").request("http://a.test/")
            .validate { request, response, data in
                guard request?.url?.host == "a.test", response.status == 418, data == Data("tea".utf8) else { return }
                throw TransportFailure(.unsupported, "a teapot")
            }
            .serializingData().response
        #expect(response.error?.message == "a teapot")
    }

    @Test func aStreamIsJudgedByItsHead() async {
        let transport = ScriptedTransport { exchange, _ in
            exchange.head(500)
            exchange.chunk("x")
        }
        let session = HTTPSession.plain(transport)
        await #expect(throws: WiretapeError.self) {
            for try await _ in session.stream("http://a.test/").validate().bytes { Issue.record("a chunk came") }
        }
    }
}
