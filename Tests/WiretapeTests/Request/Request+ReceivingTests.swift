import CassetteModel
import Foundation
import Testing

@testable import Wiretape

@Suite struct RequestReceivingTests {
    @Test func chunksTrailersAndMetricsAreKept() async throws {
        let transport = ScriptedTransport()
        let session = Session.plain(transport)
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

    @Test func aFailureBehindTheHeadIsTheErrorAndTheHeadIsKept() async {
        let transport = ScriptedTransport { exchange, _ in
            exchange.head()
            exchange.chunk("half")
            exchange.send(.failed(TransportFailure(.network(.truncated), "cut")))
        }
        let session = Session.plain(transport)
        let response = await session.request("http://a.test/x").serializingString().response
        #expect(response.error?.networkFailure == .truncated)
        #expect(response.error?.message == "cut")
        #expect(response.response?.status == 200)
        #expect(response.data == Data("half".utf8))
    }

    @Test func anEndWithoutAHeadIsNoAnswer() async {
        let session = Session.plain(ScriptedTransport { exchange, _ in exchange.send(.end) })
        #expect(await session.request("http://a.test/x").serializingData().response.error?.networkFailure == .malformed)
    }

    @Test func theHeadCanBeRefused() async {
        let transport = ScriptedTransport()
        let session = Session.plain(transport)
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
