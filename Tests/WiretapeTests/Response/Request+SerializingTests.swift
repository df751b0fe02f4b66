import CassetteModel
import Foundation
import Testing

@testable import Wiretape

@Suite struct RequestSerializingTests {
    @Test func serializersOfOthersSeeAllFields() async throws {
        let calls = Collected<Int>()
        let session = Session.answering(200, [:], "x")
        let request = session.request("http://a.test/", headers: ["A": "1", "B": "2"])
        _ = try await request.serializing(CountingSerializer(calls: calls)).value
        #expect(calls.all == [2])
    }

    @Test func theirTimeIsPartOfTheTimeline() async throws {
        let clock = ManualClock()
        let session = Session.plain(ScriptedTransport { exchange, _ in exchange.answer(200, [:], "x") }) { $0.clock = clock }
        let task = session.request("http://a.test/").serializingString()
        clock.advance(by: .seconds(2))
        let timeline = await task.response.timeline
        #expect(timeline.requestDuration == .zero)
        #expect(timeline.serializationDuration == .seconds(2))
    }

    @Test func afterAFailureNothingIsSerialized() async {
        let calls = Collected<Int>()
        let session = Session.plain(ScriptedTransport { exchange, _ in exchange.send(.failed(TransportFailure(.network(.refused), "no"))) })
        let response = await session.request("http://a.test/").serializing(CountingSerializer(calls: calls)).response
        #expect(response.error?.networkFailure == .refused)
        #expect(calls.all.isEmpty)
    }
}
