import Foundation
import Testing

@testable import Wiretape

@Suite struct StreamRequestHandlersTests {
    private let queue = DispatchQueue(label: "stream")

    /// The events of a handler in words, up to the completion.
    private func words<Value>(
        _ add: (@escaping @Sendable (StreamEvent<Value>) -> Void) -> Void, _ word: @escaping @Sendable (Value) -> String
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
        let (session, request) = Session.streaming(["a", "b", "c"])
        let words = await self.words({ request.responseStream(on: self.queue, stream: $0) }) { String(decoding: $0, as: UTF8.self) }
        #expect(words == ["a", "b", "c", "end well"])
        withExtendedLifetime(session) {}
    }

    @Test func linesAndTheLastWithoutAnEnd() async {
        let (session, request) = Session.streaming(["a\nb", "c\r\nd"])
        let words = await self.words({ request.responseStreamLines(on: self.queue, stream: $0) }) { $0 }
        #expect(words == ["a", "bc", "d", "end well"])
        withExtendedLifetime(session) {}
    }

    @Test func valuesAndLinesThatAreNone() async {
        let (session, request) = Session.streaming(["1\n\nx\n2\n"])
        let words = await self.words({ request.responseStreamDecodable(of: Int.self, on: self.queue, stream: $0) }) {
            (try? $0.get()).map(String.init) ?? "none"
        }
        #expect(words == ["1", "none", "2", "end well"])
        withExtendedLifetime(session) {}
    }

    @Test func aFailureComesBehindWhatCame() async {
        let session = Session.plain(
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
        let session = Session.plain(transport)
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
