import Testing

@testable import Wiretape

@Suite struct DeliveryStateTests {
    @Test func whoHasTheTurnDeliversUntilThereIsAPause() {
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
        // Not for the next one.
        #expect(state.willDeliver() == .go)
        #expect(state.didDeliver(.pause) == .stop)
    }

    @Test func aCancelIsToldByWhoeverHasTheTurn() {
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

    @Test func whoWaitsComesBackUnlessItIsOver() {
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
