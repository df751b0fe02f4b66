import Foundation
import Testing
@testable import Wiretape

@Suite struct StreamRequestTests {
    @Test func chunksComeAsTheyAreSent() async throws {
        let transport = ScriptedTransport()
        let session = HTTPSession.plain(transport)
        let request = session.stream("http://a.test/s")
        var iterator = request.bytes.makeAsyncIterator()
        #expect(request.isInitialized)
        Task {
            let exchange = await transport.exchange(1)
            exchange.head()
            exchange.chunk("a")
            exchange.chunk("bc")
            exchange.send(.end)
        }
        #expect(try await iterator.next() == Data("a".utf8))
        #expect(try await iterator.next() == Data("bc".utf8))
        #expect(try await iterator.next() == nil)
        #expect(request.isFinished)
    }

    @Test func anUnreadStreamTellsTheTransportToWait() async throws {
        let transport = ScriptedTransport()
        let session = HTTPSession.plain(transport)
        let request = session.stream("http://a.test/s")
        request.resume()
        let exchange = await transport.exchange(1)
        exchange.head()
        let half = String(repeating: "x", count: StreamBuffer.limit / 2)
        #expect(exchange.chunk(half) == .more)
        #expect(exchange.chunk(half) == .pause)
        var iterator = request.bytes.makeAsyncIterator()
        #expect(try await iterator.next()?.count == half.utf8.count)
        #expect(exchange.resumes == 0)
        #expect(try await iterator.next()?.count == half.utf8.count)
        #expect(exchange.resumes == 1)
        #expect(exchange.chunk("y") == .more)
        exchange.send(.end)
        #expect(try await iterator.next() == Data("y".utf8))
        #expect(try await iterator.next() == nil)
    }

    @Test func memoryStaysFlatOverALongAnswerThatComesAtOnce() async throws {
        let most = Collected<Int>()
        let transport = ScriptedTransport { exchange, _ in
            exchange.head()
            for number in 0..<100 where exchange.chunk(String(repeating: "x", count: 10_000)) == .pause { most.add(number) }
            exchange.send(.end)
        }
        let session = HTTPSession.plain(transport)
        var size = 0
        for try await chunk in session.stream("http://a.test/s").bytes { size += chunk.count }
        #expect(size == 1_000_000)
        #expect(most.all.first == 26)
    }

    @Test func leavingTheLoopCancelsTheRequest() async throws {
        let transport = ScriptedTransport()
        let session = HTTPSession.plain(transport)
        let request = session.stream("http://a.test/s")
        Task {
            let exchange = await transport.exchange(1)
            exchange.head()
            exchange.chunk("a")
        }
        for try await _ in request.bytes { break }
        #expect(request.isCancelled)
        #expect(await transport.exchange(1).isCancelled)
    }

    @Test func cancellingTheReadersTaskCancelsTheRequest() async throws {
        let transport = ScriptedTransport()
        let session = HTTPSession.plain(transport)
        let request = session.stream("http://a.test/s")
        let reader = Task {
            for try await _ in request.bytes {}
        }
        _ = await transport.exchange(1)
        reader.cancel()
        let error = await #expect(throws: WiretapeError.self) { try await reader.value }
        #expect(error?.isCancelled == true)
    }
}

@Suite struct StreamChunksTests {
    @Test func chunksAreNeitherCutNorJoined() async throws {
        let (session, request) = HTTPSession.streaming(["a", "bc", "def"])
        #expect(try await request.bytes.collected() == ["a", "bc", "def"].map { Data($0.utf8) })
        withExtendedLifetime(session) {}
    }

    @Test func aSecondLoopIsRefused() async throws {
        let (session, request) = HTTPSession.streaming(["a"])
        _ = try await request.bytes.collected()
        let error = await #expect(throws: WiretapeError.self) { try await request.bytes.collected() }
        #expect(error?.code == .stream)
        withExtendedLifetime(session) {}
    }
}

@Suite struct StreamCompletionTests {
    @Test func itTellsHowTheRequestEnded() async throws {
        let (session, request) = HTTPSession.streaming(["x"], 203)
        request.resume()
        let completion = HTTPSession.StreamRequest.Completion(await request.outcome())
        #expect(completion.response?.status == 203 && completion.error == nil)
        #expect(completion.request?.url.path == "/s" && completion.trailers.isEmpty)
        #expect(completion.metrics.hops.count == 1)
        withExtendedLifetime(session) {}
    }
}

@Suite struct StreamReaderTests {
    @Test func theLastToLeaveCancelsTheRequest() async throws {
        let transport = ScriptedTransport { exchange, _ in
            exchange.head()
            exchange.chunk("a")
        }
        let session = HTTPSession.plain(transport)
        let request = session.stream("http://a.test/s")
        let other = try request.hub.join()
        var seat: StreamReader? = StreamReader(request)
        #expect(try await seat?.next() == Data("a".utf8))
        #expect(request.hub.leave(other) == 1)
        #expect(!request.state.isOver)
        seat = nil
        #expect(request.isCancelled)
    }

    @Test func readerThatNeverReadCancelsNothing() {
        let session = HTTPSession.plain(ScriptedTransport())
        let request = session.stream("http://a.test/s")
        _ = StreamReader(request)
        #expect(request.isInitialized)
    }
}

@Suite struct StreamRequestHandlersTests {
    private let queue = DispatchQueue(label: "stream")

    /// The events of a handler as text, up to the completion.
    private func words<Value>(
        _ add: (@escaping @Sendable (HTTPSession.StreamRequest.Event<Value>) -> Void) -> Void, _ word: @escaping @Sendable (Value) -> String
    ) async -> [String] {
        let words = Collected<String>()
        await withCheckedContinuation { continuation in
            add { event in
                switch event {
                case .value(let value): words.add(word(value))
                case .complete(let completion):
                    words.add("end \(completion.error?.code.description ?? "well")")
                    continuation.resume()
                }
            }
        }
        return words.all
    }

    @Test func chunksComeInOrderAndThenTheEnd() async {
        let (session, request) = HTTPSession.streaming(["a", "b", "c"])
        let words = await self.words({ request.responseStream(on: self.queue, stream: $0) }) { String(decoding: $0, as: UTF8.self) }
        #expect(words == ["a", "b", "c", "end well"])
        withExtendedLifetime(session) {}
    }

    @Test func linesAndTheLastWithoutAnEnd() async {
        let (session, request) = HTTPSession.streaming(["a\nb", "c\r\nd"])
        let words = await self.words({ request.responseStreamLines(on: self.queue, stream: $0) }) { $0 }
        #expect(words == ["a", "bc", "d", "end well"])
        withExtendedLifetime(session) {}
    }

    @Test func invalidValuesAndLines() async {
        let (session, request) = HTTPSession.streaming(["1\n\nx\n2\n"])
        let words = await self.words({ request.responseStreamDecodable(of: Int.self, on: self.queue, stream: $0) }) {
            (try? $0.get()).map(String.init) ?? "none"
        }
        #expect(words == ["1", "none", "2", "end well"])
        withExtendedLifetime(session) {}
    }

    @Test func aFailureFollowsTheReceivedEvents() async {
        let session = HTTPSession.plain(
            ScriptedTransport { exchange, _ in
                exchange.head()
                exchange.chunk("a")
                exchange.send(.failed(TransportFailure(.network(.truncated), "cut")))
            })
        let request = session.stream("http://a.test/")
        let words = await self.words({ request.responseStream(on: self.queue, stream: $0) }) { String(decoding: $0, as: UTF8.self) }
        #expect(words == ["a", "end network"])
    }

    @Test func aSlowHandlerTellsTheTransportToWait() async throws {
        let transport = ScriptedTransport()
        let session = HTTPSession.plain(transport)
        let request = session.stream("http://a.test/")
        self.queue.suspend()
        request.responseStream(on: self.queue) { _ in }
        let exchange = await transport.exchange(1)
        exchange.head()
        #expect(exchange.chunk(String(repeating: "x", count: StreamBuffer.limit)) == .pause)
        self.queue.resume()
        self.queue.sync {}
        #expect(exchange.resumes == 1)
        exchange.send(.end)
    }
}

@Suite struct StreamRequestSequencesTests {
    @Test func nothingGoesOutBeforeAReaderAsks() async throws {
        let (session, request) = HTTPSession.streaming(["1\n"])
        _ = (request.bytes, request.lines, request.events, request.decoding(Int.self))
        #expect(request.isInitialized)
        #expect(try await request.decoding(Int.self).collected() == [1])
        #expect(request.isFinished)
        withExtendedLifetime(session) {}
    }
}
