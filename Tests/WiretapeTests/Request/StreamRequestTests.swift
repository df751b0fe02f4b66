import Foundation
import Testing

@testable import Wiretape

@Suite struct StreamRequestTests {
    @Test func chunksComeAsTheyAreSent() async throws {
        let transport = ScriptedTransport()
        let session = Session.plain(transport)
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
        let session = Session.plain(transport)
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
        let session = Session.plain(transport)
        var size = 0
        for try await chunk in session.stream("http://a.test/s").bytes { size += chunk.count }
        #expect(size == 1_000_000)
        #expect(most.all.first == 26)
    }

    @Test func leavingTheLoopCancelsTheRequest() async throws {
        let transport = ScriptedTransport()
        let session = Session.plain(transport)
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
        let session = Session.plain(transport)
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
