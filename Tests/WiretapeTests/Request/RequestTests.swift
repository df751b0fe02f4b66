import CassetteModel
import Foundation
import Testing
@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct RequestTests {
    @Test func nothingGoesOutBeforeTheFirstHandler() async throws {
        let transport = ScriptedTransport()
        let request = HTTPSession.plain(transport).request("http://a.test/x")
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
        let session = HTTPSession.plain(transport) { $0.startsRequestsImmediately = false }
        let request = session.request("http://a.test/x")
        let task = request.serializingString()
        #expect(request.isInitialized && transport.requests.isEmpty)
        request.resume()
        await transport.exchange(1).answer(200, [:], "late")
        #expect(try await task.value == "late")
    }

    @Test func aSuspendedRequestAsksForNothingMore() async throws {
        let transport = ScriptedTransport()
        let session = HTTPSession.plain(transport)
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
        let session = HTTPSession.plain(transport)
        let request = session.request("http://a.test/x").suspend()
        let task = request.serializingString()
        #expect(transport.requests.isEmpty)
        request.resume()
        await transport.exchange(1).answer(200, [:], "ok")
        #expect(try await task.value == "ok")
    }

    @Test func aCancelEndsTheRequestAtOnceAndTellsTheTransport() async throws {
        let transport = ScriptedTransport(obeysCancels: false)
        let session = HTTPSession.plain(transport)
        let request = session.request("http://a.test/x")
        let task = request.serializingData()
        let exchange = await transport.exchange(1)
        request.cancel()
        #expect(request.isCancelled)
        #expect(await task.response.error?.isCancelled == true)
        #expect(exchange.isCancelled)
        // Later events are dropped.
        exchange.answer(200, [:], "late")
        #expect(request.response == nil && request.isCancelled)
    }

    @Test func aCancelledRequestIsNeverSent() async {
        let transport = ScriptedTransport()
        let session = HTTPSession.plain(transport)
        let request = session.request("http://a.test/x").cancel()
        #expect(await request.serializingData().response.error?.isCancelled == true)
        #expect(transport.requests.isEmpty)
    }

    @Test func aCancelWithinStartReachesTheTask() async {
        let box = Collected<HTTPSession.DataRequest>()
        let exchanges = Collected<ScriptedExchange>()
        let transport = ScriptedTransport { exchange, _ in
            exchanges.add(exchange)
            box.all.first?.cancel()
        }
        let session = HTTPSession.plain(transport)
        let request = session.request("http://a.test/x")
        box.add(request)
        #expect(await request.serializingData().response.error?.isCancelled == true)
        #expect(exchanges.all.first?.isCancelled == true)
    }

    @Test func nothingKeepsARequestThatIsOver() async throws {
        let transport = ScriptedTransport()
        let session = HTTPSession.plain(transport) { $0.timeouts.idle = nil }
        weak var released: HTTPSession.DataRequest?
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
        let session = HTTPSession.plain(ScriptedTransport())
        weak var released: HTTPSession.DataRequest?
        do {
            let request = session.request("http://a.test/x").suspend()
            request.responseData { _ in }
            request.uploadProgress { _ in }
            released = request
        }
        #expect(released == nil)
    }
}

@Suite struct RequestCookiesTests {
    @Test func cookiesComeBackWhereTheyBelong() async throws {
        let transport = ScriptedTransport { exchange, number in
            switch number {
            case 1: exchange.answer(302, ["Location": "/b", "Set-Cookie": "a=1; Path=/", "Set-Cookie": "b=2; Path=/"])
            default: exchange.answer(200, ["Set-Cookie": "a=; Max-Age=0; Path=/"], "x")
            }
        }
        let session = HTTPSession.plain(transport) { $0.cookieStorage = HTTPSession.Configuration().cookieStorage }
        _ = await session.request("http://a.test/a").serializingData().response
        _ = await session.request("http://a.test/c", headers: ["Cookie": "own=3"]).serializingData().response
        _ = await session.request("http://b.test/").serializingData().response
        #expect(transport.requests.map { $0.headers["Cookie"] } == [nil, "a=1; b=2", "own=3; b=2", nil])
    }

    @Test func withoutAStorageThereAreNone() async {
        let transport = ScriptedTransport { exchange, _ in exchange.answer(200, ["Set-Cookie": "a=1"]) }
        let session = HTTPSession.plain(transport)
        for _ in 0..<2 { _ = await session.request("http://a.test/").serializingData().response }
        #expect(transport.requests.allSatisfy { !$0.headers.contains(name: "Cookie") })
    }

    @Test func aRequestThatHandlesNoneSendsAndStoresNone() async throws {
        let transport = ScriptedTransport { exchange, number in exchange.answer(200, ["Set-Cookie": "a=\(number); Path=/"], "x") }
        let session = HTTPSession.plain(transport) { $0.cookieStorage = HTTPSession.Configuration().cookieStorage }
        _ = await session.request("http://a.test/").serializingData().response
        _ = await session.request("http://a.test/") { $0.httpShouldHandleCookies = false }.serializingData().response
        var given = URLRequest(url: try "http://a.test/".asURL())
        given.httpShouldHandleCookies = false
        _ = await session.request(given).serializingData().response
        _ = await session.request("http://a.test/").serializingData().response
        #expect(transport.requests.map { $0.headers["Cookie"] } == ["", "", "", "a=1"].map { $0.isEmpty ? nil : $0 })
    }

    @Test func configurationsShareNoCookies() {
        #expect(HTTPSession.Configuration().cookieStorage !== HTTPSession.Configuration().cookieStorage)
    }

    @Test func allCookieFieldsOfARequestStay() async throws {
        let transport = ScriptedTransport { exchange, _ in exchange.answer(200, ["Set-Cookie": "a=1; Path=/"], "x") }
        let session = HTTPSession.plain(transport) { $0.cookieStorage = HTTPSession.Configuration().cookieStorage }
        _ = await session.request("http://a.test/").serializingData().response
        _ = await session.request("http://a.test/", headers: ["Cookie": "own=3", "Cookie": "more=4"]).serializingData().response
        #expect(transport.requests.last?.headers.values(for: "Cookie") == ["own=3; more=4; a=1"])
    }

    @Test func aCookieCannotWriteLinesOfItsOwn() async throws {
        let storage = try #require(HTTPSession.Configuration().cookieStorage)
        let properties: [HTTPCookiePropertyKey: Any] = [.name: "a", .value: "1\r\nX-Bad: 2", .domain: "a.test", .path: "/"]
        if let cookie = HTTPCookie(properties: properties) { storage.setCookie(cookie) }
        let transport = ScriptedTransport { exchange, _ in exchange.answer() }
        let session = HTTPSession.plain(transport) { $0.cookieStorage = storage }
        _ = await session.request("http://a.test/").serializingData().response
        #expect(transport.requests.count == 1)
        #expect(transport.requests.allSatisfy { !$0.headers.description.contains("X-Bad") })
    }
}

@Suite struct RequestCurlTests {
    @Test func aRequestIsDescribedBeforeAndAfterItWentOut() async throws {
        let session = HTTPSession.answering()
        let request = session.request("http://a.test/x", headers: ["X-A": "1", "Authorization": "Bearer secret"])
        let before = request.cURLDescription()
        #expect(before.hasPrefix("curl") && before.contains("http://a.test/x") && before.contains("X-A: 1"))
        #expect(!before.contains("secret"))
        #expect(request.isInitialized)
        #expect(try request.curl(redaction: nil).command.contains("Bearer secret"))
        _ = await request.serializingData().response
        #expect(request.cURLDescription() == before)
    }

    @Test func aRequestThatCannotBeMadeTellsWhy() {
        let request = HTTPSession.answering().request("no url")
        #expect(throws: WiretapeError.self) { try request.curl() }
        #expect(request.cURLDescription().contains("no url"))
    }
}

@Suite struct RequestFinishingTests {
    private final class Monitor: HTTPSession.EventMonitor {
        let words = Collected<String>()

        func sessionDid(_ event: HTTPSession.Event) {
            switch event.kind {
            case .created: self.words.add("created")
            case .adapted: self.words.add("adapted")
            case .started: self.words.add("started")
            case .transport(let event): self.words.add(event.isLast ? "last" : "event")
            case .redirected: self.words.add("redirected")
            case .validated(let error): self.words.add("validated \(error == nil)")
            case .retried(let count, _, _): self.words.add("retried \(count)")
            case .suspended: self.words.add("suspended")
            case .resumed: self.words.add("resumed")
            case .cancelled: self.words.add("cancelled")
            case .serialized: self.words.add("serialized")
            case .finished(let error): self.words.add("finished \(error == nil)")
            }
        }
    }

    @Test func monitorsGetEveryStepInOrder() async throws {
        let monitor = Monitor()
        let transport = ScriptedTransport { exchange, _ in
            if exchange.request.url.path == "/a" { exchange.answer(302, ["Location": "/b"]) } else { exchange.answer(200, [:], "x") }
        }
        let session = HTTPSession.plain(transport) { $0.eventMonitors = [monitor] }
        _ = try await session.request("http://a.test/a").validate().serializingData().value
        #expect(
            monitor.words.all == [
                "created", "resumed", "started", "event", "last", "redirected", "started", "event", "event", "last", "validated true",
                "finished true", "serialized",
            ])
    }

    @Test func aCancelIsReportedOnce() async {
        let monitor = Monitor()
        let session = HTTPSession.plain(ScriptedTransport()) { $0.eventMonitors = [monitor] }
        let request = session.request("http://a.test/a")
        let task = request.serializingData()
        request.cancel()
        request.cancel()
        _ = await task.response
        #expect(monitor.words.all == ["created", "resumed", "started", "cancelled", "finished false", "serialized"])
    }

    @Test func handlersRunInOrderOnTheirQueuesAlsoWhenAddedLate() async {
        let transport = ScriptedTransport()
        let session = HTTPSession.plain(transport)
        let request = session.request("http://a.test/a")
        let calls = Collected<Int>()
        let (first, second) = (DispatchQueue(label: "first"), DispatchQueue(label: "second"))
        await withCheckedContinuation { continuation in
            for number in 0..<20 {
                request.response(queue: number.isMultiple(of: 2) ? first : second) { response in
                    dispatchPrecondition(condition: .onQueue(number.isMultiple(of: 2) ? first : second))
                    #expect(response.value == Data("x".utf8))
                    calls.add(number)
                }
            }
            Task {
                await transport.exchange(1).answer(200, [:], "x")
                request.responseString(queue: first) { response in
                    calls.add(response.value == "x" ? 20 : -1)
                    request.responseData(queue: second) { _ in
                        calls.add(21)
                        continuation.resume()
                    }
                }
            }
        }
        #expect(calls.all == Array(0...21))
    }
}

@Suite struct RequestOptionsTests {
    @Test func progressFollowsTheTransportsEvents() async throws {
        let transport = ScriptedTransport()
        let session = HTTPSession.plain(transport)
        let request = session.upload(Data("four".utf8), to: "http://a.test/")
        let (uploads, downloads) = (request.uploadProgress(), request.downloadProgress())
        let task = request.serializingString()
        let exchange = await transport.exchange(1)
        exchange.send(.sent(2, of: 4))
        exchange.head(200, ["Content-Length": "3"])
        exchange.chunk("a")
        exchange.chunk("bc")
        exchange.send(.end)
        #expect(try await task.value == "abc")
        var up: [Double?] = []
        for await progress in uploads { up.append(progress.fractionCompleted) }
        var down: [Int64] = []
        for await progress in downloads { down.append(progress.completedUnitCount) }
        #expect(up == [0.5, 1, 1])
        #expect(down == [1, 3, 3])
    }

    @Test func theTotalOfACodedBodyIsNotKnownBeforeItsEnd() async throws {
        let session = HTTPSession.answering(200, ["Content-Length": "3", "Content-Encoding": "gzip"], "longer")
        let request = session.request("http://a.test/")
        let stream = request.downloadProgress()
        _ = try await request.serializingData().value
        var seen: [Int64?] = []
        for await progress in stream { seen.append(progress.totalUnitCount) }
        #expect(seen == [nil, 6])
    }

    @Test func closuresAreCalledInOrderOnAConcurrentQueue() async throws {
        let response = StubResponse(status: 200, chunks: ["a", "b", "c"].map { StubResponse.Chunk(Data($0.utf8)) })
        let request = HTTPSession(transport: StubTransport { _ in response }).request("http://a.test/")
        let queue = DispatchQueue(label: "progress", attributes: .concurrent)
        // The first call blocks until the block that is enqueued after all of them has run.
        let later = DispatchSemaphore(value: 0)
        let (steps, continuation) = AsyncStream.makeStream(of: Int64.self)
        request.downloadProgress(queue: queue) { progress in
            if progress.completedUnitCount == 1 { later.wait() }
            continuation.yield(progress.completedUnitCount)
        }
        _ = try await request.serializingData().value
        queue.async { later.signal() }
        // One value for each chunk, and one for the end.
        var counts: [Int64] = []
        for await count in steps.prefix(4) { counts.append(count) }
        #expect(counts == [1, 2, 3, 3])
    }

    @Test func closuresAreCalledOnTheirQueueAlsoLate() async throws {
        let session = HTTPSession.answering(200, [:], "abc")
        let request = session.request("http://a.test/")
        _ = try await request.serializingData().value
        let queue = DispatchQueue(label: "progress")
        await withCheckedContinuation { continuation in
            request.downloadProgress(queue: queue) { progress in
                dispatchPrecondition(condition: .onQueue(queue))
                #expect(progress.completedUnitCount == 3)
                continuation.resume()
            }
        }
        await withCheckedContinuation { continuation in
            request.uploadProgress(queue: queue) { _ in continuation.resume() }
        }
    }
}

@Suite struct RequestReceivingTests {
    @Test func chunksTrailersAndMetricsAreKept() async throws {
        let transport = ScriptedTransport()
        let session = HTTPSession.plain(transport)
        let task = session.request("http://a.test/x").serializingString()
        let exchange = await transport.exchange(1)
        exchange.send(.interim(status: 103, headers: [:]))
        exchange.head(200, ["A": "1", "A": "2"], source: .replayed(cassette: "c", id: 4))
        exchange.chunk("a")
        exchange.chunk("b")
        exchange.send(.trailers(["T": "1"]))
        exchange.send(.end)
        let response = await task.response
        #expect(response.value == "ab")
        #expect(response.headers.values(for: "a") == ["1", "2"])
        #expect(response.trailers == ["T": "1"])
        #expect(response.source == .replayed(cassette: "c", id: 4))
        #expect(response.metrics.hops.map { $0.pieces.map(\.size) } == [[1, 1]])
    }

    @Test func aFailureAfterTheHeadIsTheErrorAndTheHeadIsKept() async {
        let transport = ScriptedTransport { exchange, _ in
            exchange.head()
            exchange.chunk("half")
            exchange.send(.failed(TransportFailure(.network(.truncated), "cut")))
        }
        let session = HTTPSession.plain(transport)
        let response = await session.request("http://a.test/x").serializingString().response
        #expect(response.error?.networkFailure == .truncated)
        #expect(response.error?.message == "cut")
        #expect(response.response?.status == 200)
        #expect(response.data == Data("half".utf8))
    }

    @Test func anEndWithoutAHeadIsNoAnswer() async {
        let session = HTTPSession.plain(ScriptedTransport { exchange, _ in exchange.send(.end) })
        #expect(await session.request("http://a.test/x").serializingData().response.error?.networkFailure == .malformed)
    }

    @Test func theHeadCanBeRefused() async {
        let transport = ScriptedTransport()
        let session = HTTPSession.plain(transport)
        let request = session.request("http://a.test/x").onHTTPResponse { $0.status == 200 ? .allow : .cancel }
        let task = request.serializingData()
        let exchange = await transport.exchange(1)
        exchange.head(500)
        let error = await task.response.error
        #expect(error?.isCancelled == true)
        #expect(error?.message.contains("status 500") == true)
        #expect(exchange.isCancelled)
    }
}
