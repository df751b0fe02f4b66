import Foundation
import Testing

@testable import Wiretape

@Suite struct StreamReaderTests {
    @Test func theLastToLeaveCancelsTheRequest() async throws {
        let transport = ScriptedTransport { exchange, _ in
            exchange.head()
            exchange.chunk("a")
        }
        let session = Session.plain(transport)
        let request = session.stream("http://a.test/s")
        let other = try request.hub.join()
        var seat: StreamReader? = StreamReader(request)
        #expect(try await seat?.next() == Data("a".utf8))
        #expect(request.hub.leave(other) == 1)
        #expect(!request.state.isOver)
        seat = nil
        #expect(request.isCancelled)
    }

    @Test func whoNeverReadCancelsNothing() {
        let session = Session.plain(ScriptedTransport())
        let request = session.stream("http://a.test/s")
        _ = StreamReader(request)
        #expect(request.isInitialized)
    }
}
