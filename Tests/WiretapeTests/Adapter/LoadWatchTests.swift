import Testing

@testable import Wiretape

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
