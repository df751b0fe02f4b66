import TapeTestSupport
import Testing

@testable import Wiretape

@Suite struct LoadStateTests {
    @Test func anAnswerThatIsThereAtOnceIsGivenInTheFirstCall() {
        var state = LoadState()
        #expect(state.loadingStarted() == .start)
        #expect(state.answerArrived() == .wait)
        #expect(state.exchangeStarted() == .deliver)
        state.finished()
        #expect(state.isOver)
    }

    @Test func aLaterAnswerAsksToBeCalledBackOnce() {
        var state = LoadState()
        _ = state.loadingStarted()
        #expect(state.exchangeStarted() == .deliver)
        #expect(state.answerArrived() == .comeBack)
        #expect(state.answerArrived() == .wait)
        #expect(state.loadingStarted() == .deliver)
        #expect(state.answerArrived() == .comeBack)
        #expect(state.loadingStarted() == .deliver)
        state.finished()
        #expect(state.loadingStarted() == .wait)
        #expect(state.answerArrived() == .wait)
    }

    @Test func aSuspensionOfTheUserChangesNothing() {
        var state = LoadState()
        _ = state.loadingStarted()
        _ = state.exchangeStarted()
        #expect(state.loadingStopped(isCancelled: false) == .wait)
        #expect(state.loadingStarted() == .deliver)
        #expect(state.answerArrived() == .comeBack)
        #expect(!state.isOver)
    }

    @Test func aCancelledLoadIsNotAnswered() {
        var state = LoadState()
        _ = state.loadingStarted()
        _ = state.exchangeStarted()
        _ = state.answerArrived()
        #expect(state.loadingStopped(isCancelled: true) == .cancel)
        #expect(state.loadingStopped(isCancelled: true) == .wait)
        #expect(state.loadingStarted() == .wait)
        #expect(state.answerArrived() == .wait)
        #expect(state.exchangeStarted() == .wait)
        state.finished()
        #expect(state.isOver)
    }

    @Test func aCancellationBehindTheEndCancelsNothing() {
        var state = LoadState()
        _ = state.loadingStarted()
        _ = state.exchangeStarted()
        state.finished()
        #expect(state.loadingStopped(isCancelled: true) == .wait)
    }

    @Test func nothingIsGivenBeforeALoadHasStarted() {
        var state = LoadState()
        #expect(state.answerArrived() == .wait)
        #expect(state.exchangeStarted() == .wait)
    }

    /// Whatever the order of calls: it starts once, and once over it stays over.
    @Test(arguments: 0..<50) func itStartsOnceAndEndsOnce(seed: UInt64) {
        var random = TapeTestSupport.SeededGenerator(seed: seed)
        var state = LoadState()
        var (starts, wasOver) = (0, false)
        for _ in 0..<200 {
            let action: LoadState.Action
            switch Int.random(in: 0..<6, using: &random) {
            case 0: action = state.loadingStarted()
            case 1: action = state.exchangeStarted()
            case 2: action = state.answerArrived()
            case 3: action = state.loadingStopped(isCancelled: false)
            case 4 where Int.random(in: 0..<20, using: &random) == 0: action = state.loadingStopped(isCancelled: true)
            default: action = .wait
            }
            starts += action == .start ? 1 : 0
            if wasOver { #expect(action == .wait) }
            if Int.random(in: 0..<60, using: &random) == 0 { state.finished() }
            #expect(!wasOver || state.isOver)
            wasOver = state.isOver
        }
        #expect(starts <= 1)
    }
}
