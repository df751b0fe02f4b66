import Foundation
import Testing

@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

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

    @Test func itSaysWhatTookTooLong() {
        let limits = self.limits(idle: .milliseconds(250))
        #expect(limits.decide(now: .milliseconds(250), lastProgress: .zero) == .fail("no part of the response arrived for 250 ms"))
        #expect(limits.decide(now: .seconds(100), lastProgress: .seconds(100)) == .fail("the whole response took longer than 100 s"))
    }

    /// 60 is what nobody has set.
    @Test func theRequestsLimitGoesBeforeTheSessions() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 7
        configuration.timeoutIntervalForResource = 30
        #expect(LoadTimeLimits(request: 60, configuration: configuration) == self.limits(idle: .seconds(7), total: .seconds(30)))
        #expect(LoadTimeLimits(request: 0.25, configuration: configuration) == self.limits(idle: .milliseconds(250), total: .seconds(30)))
    }

    @Test(arguments: [0, -1, -Double.infinity, Double.nan]) func whatIsNoTimeIsNoLimit(seconds: TimeInterval) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForResource = seconds
        #expect(LoadTimeLimits(request: seconds, configuration: configuration) == LoadTimeLimits())
    }

    @Test(arguments: [1e300, Double.infinity]) func noLimitIsTooLongToCountWith(seconds: TimeInterval) {
        let limits = LoadTimeLimits(request: seconds, configuration: .ephemeral)
        #expect(limits.idle == .seconds(1_000_000_000))
    }
}
