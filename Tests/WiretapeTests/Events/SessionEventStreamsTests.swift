import Foundation
import Testing
import Wiretape

@Suite struct SessionEventStreamsTests {
    private func event(_ status: Int) -> SessionEvent {
        SessionEvent(requestID: UUID(), kind: .transport(.interim(status: status, headers: HTTPHeaders())))
    }

    private func statuses(_ stream: AsyncStream<SessionEvent>) async -> [Int] {
        var statuses: [Int] = []
        for await event in stream { if case .transport(.interim(let status, _)) = event.kind { statuses.append(status) } }
        return statuses
    }

    @Test func eachReaderGetsAllFromItsBeginningOn() async {
        let streams = SessionEventStreams()
        let early = streams.events()
        streams.sessionDid(self.event(1))
        let late = streams.events()
        streams.sessionDid(self.event(2))
        streams.finish()
        streams.sessionDid(self.event(3))
        #expect(await self.statuses(early) == [1, 2])
        #expect(await self.statuses(late) == [2])
        #expect(await self.statuses(streams.events()) == [])
        #expect(streams.droppedCount == 0)
    }

    @Test func aSlowReaderLosesTheLaterOnesAndThatIsCounted() async {
        let streams = SessionEventStreams()
        let small = streams.events(limit: 2)
        let large = streams.events(limit: 10)
        for status in 1...5 { streams.sessionDid(self.event(status)) }
        streams.finish()
        #expect(await self.statuses(small) == [1, 2])
        #expect(await self.statuses(large) == [1, 2, 3, 4, 5])
        #expect(streams.droppedCount == 3)
    }

    @Test func aReaderThatLeavesIsForgotten() async {
        let streams = SessionEventStreams()
        do {
            let stream = streams.events(limit: 1)
            _ = consume stream
        }
        for status in 1...3 { streams.sessionDid(self.event(status)) }
        #expect(streams.droppedCount == 0)
    }

    @Test func theSequencesEndWithTheMonitor() async {
        var streams: SessionEventStreams? = SessionEventStreams()
        let stream = streams?.events()
        streams?.sessionDid(self.event(1))
        streams = nil
        if let stream { #expect(await self.statuses(stream) == [1]) }
    }
}
