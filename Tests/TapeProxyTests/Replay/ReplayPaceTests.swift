import CassettePlayback
import NIOCore
import NIOEmbedded
import Testing
@testable import TapeProxy

@Suite struct ReplayPaceTests {
    private let loop = EmbeddedEventLoop()

    private func pace(_ latency: Latency, head: Double, end: Double) throws -> ReplayPace {
        let schedule = try #require(ReplaySchedule(latency, times: RecordedTimes(head: head, end: end), arrival: nil))
        return ReplayPace(schedule, start: self.loop.now, proxy: try EmbeddedProxy.context(self.loop))
    }

    @Test func aCallComesWhenItIsDueAndNotBefore() throws {
        let pace = try self.pace(.scaled(1), head: 100, end: 200)
        var calls: [String] = []
        pace.wait(until: pace.head) { calls.append("head") }
        #expect(pace.isWaiting)
        self.loop.advanceTime(by: .milliseconds(99))
        #expect(calls.isEmpty)
        #expect(!pace.isDue(pace.head))
        self.loop.advanceTime(by: .milliseconds(1))
        #expect(calls == ["head"])
        #expect(!pace.isWaiting)
        pace.wait(until: pace.head) { calls.append("at once") }
        #expect(calls == ["head", "at once"])
        #expect(pace.count() == 0)
        self.loop.advanceTime(by: .milliseconds(100))
        #expect(pace.count() == nil)
    }

    @Test func nothingIsCalledAfterAStop() throws {
        let pace = try self.pace(.fixed(50), head: 0, end: 0)
        #expect(!pace.pacesBody)
        var calls = 0
        pace.wait(until: 50) { calls += 1 }
        pace.wait(until: 60) { calls += 10 }
        pace.stop()
        self.loop.advanceTime(by: .seconds(1))
        #expect(calls == 0)
        #expect(!pace.isWaiting)
    }

    @Test func oneWaitTakesThePlaceOfTheLast() throws {
        let pace = try self.pace(.scaled(1), head: 100, end: 200)
        var calls: [Int] = []
        pace.wait(until: 10) { calls.append(10) }
        pace.wait(until: 20) { calls.append(20) }
        self.loop.advanceTime(by: .seconds(1))
        #expect(calls == [20])
    }
}
