import Foundation
import Testing

@testable import Wiretape

@Suite struct RequestTests {
    @Test func nothingGoesOutBeforeTheFirstHandler() async throws {
        let transport = ScriptedTransport()
        let request = Session.plain(transport).request("http://a.test/x")
        #expect(request.isInitialized && request.sentRequest == nil && request.request == nil)
        #expect(transport.requests.isEmpty)
        let task = request.serializingData()
        #expect(request.isResumed)
        let exchange = await transport.exchange(1)
        exchange.answer(200, [:], "hello")
        #expect(try await task.value == Data("hello".utf8))
        #expect(request.isFinished && request.response?.status == 200 && request.error == nil && request.retryCount == 0)
        #expect(request.request?.url?.absoluteString == "http://a.test/x")
    }

    @Test func aSessionCanWaitForResume() async throws {
        let transport = ScriptedTransport()
        let session = Session.plain(transport) { $0.startsRequestsImmediately = false }
        let request = session.request("http://a.test/x")
        let task = request.serializingString()
        #expect(request.isInitialized && transport.requests.isEmpty)
        request.resume()
        await transport.exchange(1).answer(200, [:], "late")
        #expect(try await task.value == "late")
    }

    @Test func aSuspendedRequestAsksForNothingMore() async throws {
        let transport = ScriptedTransport()
        let session = Session.plain(transport)
        let request = session.request("http://a.test/x")
        let task = request.serializingString()
        let exchange = await transport.exchange(1)
        exchange.head()
        request.suspend()
        #expect(request.isSuspended)
        #expect(exchange.chunk("a") == .pause)
        request.resume()
        #expect(exchange.resumes == 1)
        #expect(exchange.chunk("b") == .more)
        exchange.send(.end)
        #expect(try await task.value == "ab")
    }

    @Test func suspendedBeforeItsStartItDoesNotGoOut() async throws {
        let transport = ScriptedTransport()
        let session = Session.plain(transport)
        let request = session.request("http://a.test/x").suspend()
        let task = request.serializingString()
        #expect(transport.requests.isEmpty)
        request.resume()
        await transport.exchange(1).answer(200, [:], "ok")
        #expect(try await task.value == "ok")
    }

    @Test func aCancelEndsTheRequestAtOnceAndTellsTheTransport() async throws {
        let transport = ScriptedTransport(obeysCancels: false)
        let session = Session.plain(transport)
        let request = session.request("http://a.test/x")
        let task = request.serializingData()
        let exchange = await transport.exchange(1)
        request.cancel()
        #expect(request.isCancelled)
        #expect(await task.response.error?.isCancelled == true)
        #expect(exchange.isCancelled)
        // What comes later is dropped.
        exchange.answer(200, [:], "late")
        #expect(request.response == nil && request.isCancelled)
    }

    @Test func aCancelledRequestIsNeverSent() async {
        let transport = ScriptedTransport()
        let session = Session.plain(transport)
        let request = session.request("http://a.test/x").cancel()
        #expect(await request.serializingData().response.error?.isCancelled == true)
        #expect(transport.requests.isEmpty)
    }

    @Test func aCancelWithinStartReachesTheTask() async {
        let box = Collected<DataRequest>()
        let exchanges = Collected<ScriptedExchange>()
        let transport = ScriptedTransport { exchange, _ in
            exchanges.add(exchange)
            box.all.first?.cancel()
        }
        let session = Session.plain(transport)
        let request = session.request("http://a.test/x")
        box.add(request)
        #expect(await request.serializingData().response.error?.isCancelled == true)
        #expect(exchanges.all.first?.isCancelled == true)
    }

    @Test func nothingKeepsARequestThatIsOver() async throws {
        let transport = ScriptedTransport()
        let session = Session.plain(transport) { $0.timeouts.idle = nil }
        weak var released: DataRequest?
        do {
            let request = session.request("http://a.test/x")
            released = request
            let task = request.serializingData()
            await transport.exchange(1).answer(200, [:], "x")
            _ = try await task.value
        }
        await session.waitUntilIdle()
        #expect(released == nil)
    }

    @Test func nothingKeepsARequestThatNeverStarted() {
        let session = Session.plain(ScriptedTransport())
        weak var released: DataRequest?
        do {
            let request = session.request("http://a.test/x").suspend()
            request.responseData { _ in }
            request.uploadProgress { _ in }
            released = request
        }
        #expect(released == nil)
    }
}
