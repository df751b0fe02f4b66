import Foundation
import TapeTestSupport
import Testing
@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

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

    @Test func aCancellationAfterTheEndCancelsNothing() {
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

    /// In any order of calls, a load starts once and ends once.
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

@Suite struct LoadTimeLimitsTests {
    private func limits(idle: Duration = .seconds(60), total: Duration = .seconds(100)) -> LoadTimeLimits {
        var limits = LoadTimeLimits()
        (limits.idle, limits.total) = (idle, total)
        return limits
    }

    @Test func itWaitsForTheFirstLimitThatCanBeReached() {
        let limits = self.limits()
        #expect(limits.decide(now: .zero, lastProgress: .zero) == .wait(.seconds(60)))
        #expect(limits.decide(now: .seconds(50), lastProgress: .seconds(20)) == .wait(.seconds(30)))
        #expect(limits.decide(now: .seconds(90), lastProgress: .seconds(80)) == .wait(.seconds(10)))
    }

    @Test func failureNamesTheExceededLimit() {
        let limits = self.limits(idle: .milliseconds(250))
        #expect(limits.decide(now: .milliseconds(250), lastProgress: .zero) == .fail("no part of the response arrived for 250 ms"))
        #expect(limits.decide(now: .seconds(100), lastProgress: .seconds(100)) == .fail("the whole response took longer than 100 s"))
    }

    /// 60 is the default of the system.
    @Test func theRequestsLimitGoesBeforeTheSessions() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 7
        configuration.timeoutIntervalForResource = 30
        #expect(LoadTimeLimits(request: 60, configuration: configuration) == self.limits(idle: .seconds(7), total: .seconds(30)))
        #expect(LoadTimeLimits(request: 0.25, configuration: configuration) == self.limits(idle: .milliseconds(250), total: .seconds(30)))
    }

    @Test(arguments: [0, -1, -Double.infinity, Double.nan]) func invalidTimeoutIsNoLimit(seconds: TimeInterval) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForResource = seconds
        #expect(LoadTimeLimits(request: seconds, configuration: configuration) == LoadTimeLimits())
    }

    @Test(arguments: [1e300, Double.infinity]) func noLimitIsTooLongToCountWith(seconds: TimeInterval) {
        let limits = LoadTimeLimits(request: seconds, configuration: .ephemeral)
        #expect(limits.idle == .seconds(1_000_000_000))
    }
}

@Suite struct LoadWatchTests {
    private let limits: LoadTimeLimits

    init() {
        var limits = LoadTimeLimits()
        (limits.idle, limits.total) = (.seconds(10), .seconds(25))
        self.limits = limits
    }

    @Test func itDecidesNothingUntilItBegins() {
        var watch = LoadWatch()
        #expect(!watch.isOn && watch.decide(at: .seconds(1000), self.limits) == nil)
        watch.begins(at: .seconds(1000))
        #expect(watch.isOn && watch.decide(at: .seconds(1004), self.limits) == .wait(.seconds(6)))
    }

    @Test func eachSignStartsTheIdleTimeAgainButNotTheWhole() {
        var watch = LoadWatch()
        watch.begins(at: .seconds(1000))
        watch.progressed(at: .seconds(1008))
        #expect(watch.decide(at: .seconds(1008), self.limits) == .wait(.seconds(10)))
        watch.progressed(at: .seconds(1016))
        #expect(watch.decide(at: .seconds(1016), self.limits) == .wait(.seconds(9)))
        #expect(watch.decide(at: .seconds(1025), self.limits) == .fail("the whole response took longer than 25 s"))
    }

    @Test func aSignThatIsToldLateDoesNotTurnTheClockBack() {
        var watch = LoadWatch()
        watch.begins(at: .seconds(1000))
        watch.progressed(at: .seconds(1008))
        watch.progressed(at: .seconds(1003))
        #expect(watch.decide(at: .seconds(1008), self.limits) == .wait(.seconds(10)))
    }
}
