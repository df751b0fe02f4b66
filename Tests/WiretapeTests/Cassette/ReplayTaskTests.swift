import ClientTestSupport
import Foundation
import TapeTestSupport
import Testing
@testable import Wiretape

@Suite struct ReplayTaskTests {
    @Test func aStreamedBodyWaitsForItsReceiver() async throws {
        let folder = try TemporaryFolder()
        let size = AnswerLibrary.streamSize * 3
        let interaction = CassetteFixture.interaction(
            url: "http://a.test/", body: CassetteFixture.text(String(repeating: "x", count: size)))
        let transport = ReplayTransport(try CassetteFixture.cassette([interaction], in: folder))
        let log = EventLog(pauses: [1, 2])
        let task = transport.start(.make("GET", "http://a.test/")) { log.receive($0) }
        await log.wait(for: 2)
        #expect(log.events.count == 2)
        task.resume()
        await log.wait(for: 3)
        #expect(log.events.count == 3)
        task.resume()
        await log.wait()
        #expect(log.body.count == size)
    }

    @Test func manyPausesResumesAndCancelsFromAllSidesEndOnce() async throws {
        let folder = try TemporaryFolder()
        let pieces = (0..<50).map { (at: Double($0), size: 2) }
        let interactions = (0..<40).map {
            CassetteFixture.interaction(
                $0 + 1, url: "http://a.test/\($0)", body: CassetteFixture.text(String(repeating: "ab", count: 50), pieces: pieces))
        }
        let transport = ReplayTransport(try CassetteFixture.cassette(interactions, in: folder))
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    let log = EventLog(pauses: Set((0..<60).filter { $0 % 3 == number % 3 }))
                    let task = transport.start(.make("GET", "http://a.test/\(number)")) { log.receive($0) }
                    for _ in 0..<200 where !(log.events.last?.isLast ?? false) {
                        task.resume()
                        await Task.yield()
                        if number % 4 == 0 { task.cancel() }
                    }
                    task.cancel()
                    await log.wait()
                    #expect(log.events.filter(\.isLast).count == 1)
                    #expect(log.events.last?.isLast == true)
                }
            }
        }
    }
}

@Suite struct DeliveryStateTests {
    @Test func oneDelivererRunsUntilThereIsAPause() {
        var state = DeliveryState()
        #expect(state.willDeliver() == .go)
        #expect(state.didDeliver(.more) == .go)
        #expect(state.willDeliver() == .go)
        #expect(state.didDeliver(.pause) == .stop)
        #expect(state.resume() == .go)
        #expect(state.resume() == .stop)
        #expect(state.willDeliver() == .go)
        state.didEnd()
        #expect(state.cancel() == .stop)
        #expect(state.resume() == .stop)
        #expect(state.isOver)
    }

    @Test func aResumeThatComesBeforeThePauseCounts() {
        var state = DeliveryState()
        #expect(state.willDeliver() == .go)
        #expect(state.resume() == .stop)
        #expect(state.didDeliver(.pause) == .go)
        // It does not apply to the next one.
        #expect(state.willDeliver() == .go)
        #expect(state.didDeliver(.pause) == .stop)
    }

    @Test func aCancelIsReportedByTheCurrentDeliverer() {
        var state = DeliveryState()
        #expect(state.willDeliver() == .go)
        #expect(state.cancel() == .stop)
        #expect(state.didDeliver(.pause) == .reportCancelled)
        #expect(state.cancel() == .stop)
        var paused = DeliveryState(isPaused: true)
        #expect(paused.cancel() == .reportCancelled)
        #expect(paused.resume() == .stop)
        var beforeDelivery = DeliveryState()
        #expect(beforeDelivery.cancel() == .stop)
        #expect(beforeDelivery.willDeliver() == .reportCancelled)
        #expect(beforeDelivery.willDeliver() == .stop)
    }

    @Test func waiterResumesUnlessTheTaskHasEnded() {
        var state = DeliveryState()
        #expect(state.willWait() == .stop)
        #expect(state.resume() == .stop)
        #expect(state.didWait() == .go)
        #expect(state.didWait() == .stop)
        #expect(state.willWait() == .stop)
        #expect(state.cancel() == .reportCancelled)
        #expect(state.didWait() == .stop)
        var cancelled = DeliveryState()
        #expect(cancelled.cancel() == .stop)
        #expect(cancelled.willWait() == .reportCancelled)
    }
}
