import Foundation
import TapeBytes
import Testing
import Wiretape
import WiretapeTesting

/// Sessions without a transport, in tests with a cassette.
struct SessionInATestTests {
    @Test(.cassette("trait/two", mode: .none)) func requestsAskTheCassette() async throws {
        let session = HTTPSession()
        async let first = session.request("http://pets.test/1").serializingString().value
        async let second = session.request("http://pets.test/2").serializingString().value
        #expect(try await [first, second] == ["1", "2"])
    }

    @Test(.cassette("trait/two", mode: .none)) func requestMadeInAHandlerAsksTheSameCassette() async throws {
        let session = HTTPSession()
        let texts = await withCheckedContinuation { continuation in
            session.request("http://pets.test/1").responseString(queue: .global()) { first in
                session.request("http://pets.test/2").responseString(queue: .global()) { second in
                    continuation.resume(returning: [first.value, second.value])
                }
            }
        }
        #expect(texts == ["1", "2"])
    }

    @Test(.cassette("trait/one", mode: .none, unused: .allow)) func retrierOfAnAnswerFromElsewhereHasTheCassette() async throws {
        let paths = Guarded<[String?]>([])
        let retrier = HTTPSession.Interceptor.retrying { _, _ in
            paths.withLock { $0.append(Cassette.current?.path) }
            return .doNotRetry
        }
        let session = HTTPSession(transport: Elsewhere())
        _ = try? await session.request("http://pets.test/1", interceptor: retrier).validate().serializingString().value
        #expect(paths.withLock { $0 } == [Cassette.current?.path])
    }

    /// They run concurrently, each with a recording of its own: none runs out of answers.
    @Test(.cassette("trait/two", mode: .none)) func testsDoNotTakeEachOthersAnswers() async throws {
        let session = HTTPSession()
        for page in 1...2 {
            let text = try await session.request("http://pets.test/\(page)").serializingString().value
            #expect(text == "\(page)")
        }
    }

    /// The task, queue and callback do not know the test, but their session is bound to it.
    @Test(.cassette("trait/two", mode: .none)) func requestsFromElsewhereAskTheCassetteToo() async throws {
        let session = HTTPSession(cassette: .current)
        let first = try await Task.detached { try await session.request("http://pets.test/1").serializingString().value }.value
        let second = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                session.request("http://pets.test/2").responseString(queue: .global()) { continuation.resume(returning: $0.value) }
            }
        }
        #expect([first, second] == ["1", "2"])
    }

    /// Every way of losing the task's cassette, with other tests running.
    @Test(.cassette("trait/two", mode: .none)) func boundSessionHasTheCassetteWhereTheTaskIsLost() async throws {
        let session = HTTPSession(cassette: .current)
        let asks: @Sendable (Int, @escaping @Sendable (String?) -> Void) -> Void = { page, done in
            session.request("http://pets.test/\(page)").responseString(queue: .global()) { done($0.value) }
        }
        let operation = await withCheckedContinuation { (continuation: CheckedContinuation<String?, Never>) in
            OperationQueue().addOperation { asks(1) { continuation.resume(returning: $0) } }
        }
        let thread = await withCheckedContinuation { (continuation: CheckedContinuation<String?, Never>) in
            Thread { asks(2) { continuation.resume(returning: $0) } }.start()
        }
        #expect([operation, thread] == ["1", "2"])
    }

    @Test(.cassette("trait/two", mode: .none)) func aCallbackCarriesTheCassette() async throws {
        let texts = await withCheckedContinuation { (continuation: CheckedContinuation<[String?], Never>) in
            withEscapedCassette { cassette in
                DispatchQueue.global().async {
                    cassette.yield {
                        HTTPSession().request("http://pets.test/1").responseString(queue: .global()) { first in
                            HTTPSession().request("http://pets.test/2").responseString(queue: .global()) { second in
                                continuation.resume(returning: [first.value, second.value])
                            }
                        }
                    }
                }
            }
        }
        #expect(texts == ["1", "2"])
    }

    @Test func missIsAnErrorThatNamesTheNearest() async throws {
        let error = Guarded<String?>(nil)
        let session = HTTPSession()
        let found = try await issues {
            try await withCassette("trait/one", mode: .none, unused: .allow) {
                do {
                    _ = try await session.request("http://pets.test/7").serializingString().value
                } catch let problem {
                    error.withLock { $0 = "\(problem)" }
                }
            }
        }
        #expect(error.withLock { $0 }?.contains("http://pets.test/7") == true)
        #expect(found.count == 1)
        #expect(found.first?.contains("exchange 1, \"GET http://pets.test/1\"") == true)
    }
}

/// Answers with 500 on a thread that belongs to no task.
private struct Elsewhere: Transport {
    struct Task: TransportTask {
        func cancel() {}
        func resume() {}
    }

    func start(_ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Demand) -> any TransportTask {
        Thread {
            _ = receive(.head(HTTPSession.Response(url: request.url, status: 500)))
            _ = receive(.end)
        }.start()
        return Task()
    }
}
