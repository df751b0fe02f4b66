import TapeBytes
import Foundation
import NIOCore
import NIOEmbedded
@testable import TapeProxy
import Testing

@Suite struct WallClockTests {
    /// Both clocks, set by hand, in nanoseconds.
    private final class Clocks: Sendable {
        private let state = Guarded((wall: Int64(1_800_000_000_000_000_000), monotonic: Int64(5_000_000_000)))

        var wall: Int64 { self.state.withLock { $0.wall } }
        var monotonic: Int64 { self.state.withLock { $0.monotonic } }
        var instant: NIODeadline { .uptimeNanoseconds(UInt64(self.monotonic)) }

        /// Both advance, as they do while the machine is awake.
        func pass(_ seconds: Double) {
            self.set(by: seconds)
            self.state.withLock { $0.monotonic += Int64(seconds * 1e9) }
        }

        /// Only the wall clock moves forward or back, as when the machine sleeps or the clock is set.
        func set(by seconds: Double) { self.state.withLock { $0.wall += Int64(seconds * 1e9) } }

        func clock() -> WallClock { WallClock(wall: { self.wall }, monotonic: { self.monotonic }) }
    }

    private let clocks = Clocks()

    private func seconds(_ clock: WallClock, _ instant: NIODeadline) -> Double {
        Double(clock.timestamp(at: instant).microseconds - 1_800_000_000_000_000) / 1e6
    }

    @Test func itTellsTheTimeAndItsDifferences() {
        let clock = WallClock()
        let now = NIODeadline.now()
        let told = Double(clock.timestamp(at: now).microseconds) / 1e6
        #expect(abs(told - Date().timeIntervalSince1970) < 5)
        #expect(clock.timestamp(at: now + .microseconds(1500)).microseconds - clock.timestamp(at: now).microseconds == 1500)
    }

    @Test func afterASleepTheTimeIsRight() {
        let clock = self.clocks.clock()
        let before = self.clocks.instant
        self.clocks.pass(1)
        self.clocks.set(by: 3600)
        clock.follow()
        #expect(self.seconds(clock, self.clocks.instant) == 3601)
        // A time from before keeps its value, whenever it is asked for.
        #expect(self.seconds(clock, before) == 0)
        self.clocks.pass(2)
        self.clocks.set(by: 60)
        clock.follow()
        #expect(self.seconds(clock, self.clocks.instant) == 3663)
        #expect(self.seconds(clock, self.clocks.instant - .seconds(1)) == 3602)
        #expect(self.seconds(clock, before) == 0)
    }

    @Test(arguments: [-0.9, 0.9, -3600, -1_800_000_000])
    func aSmallStepAndAStepBackLeaveOrderAndDifferences(step: Double) {
        let clock = self.clocks.clock()
        self.clocks.set(by: step)
        clock.follow()
        self.clocks.pass(10)
        clock.follow()
        #expect(self.seconds(clock, self.clocks.instant) == 10)
        #expect(clock.now.microseconds == self.clocks.wall / 1000)
    }

    @Test func aSleepAfterAStepBackCountsOnceItIsLonger() {
        let clock = self.clocks.clock()
        self.clocks.set(by: -3600)
        clock.follow()
        self.clocks.set(by: 1800)
        clock.follow()
        #expect(self.seconds(clock, self.clocks.instant) == 0)
        self.clocks.set(by: 7200)
        clock.follow()
        #expect(self.seconds(clock, self.clocks.instant) == 5400)
    }

    @Test func timesNeverGoBackHoweverManyStepsThereWere() {
        let clock = self.clocks.clock()
        var instants = [self.clocks.instant]
        for step in 1...40 {
            self.clocks.pass(1)
            self.clocks.set(by: step.isMultiple(of: 3) ? -20 : Double(step))
            clock.follow()
            instants.append(self.clocks.instant)
        }
        let times = instants.map { clock.timestamp(at: $0).microseconds }
        #expect(times == times.sorted())
    }

    /// A thread that is suspended between the two clock readings would take that for a sleep.
    @Test func looksThatAreFarApartDoNotCount() {
        let clocks = self.clocks
        let isSlow = Guarded(false)
        let clock = WallClock(
            wall: {
                if isSlow.withLock({ $0 }) { clocks.pass(2) }
                return clocks.wall
            }, monotonic: { clocks.monotonic })
        isSlow.withLock { $0 = true }
        clocks.set(by: 3600)
        clock.follow()
        isSlow.withLock { $0 = false }
        #expect(self.seconds(clock, clocks.instant) == 2)
        clock.follow()
        #expect(self.seconds(clock, clocks.instant) == 3602)
    }

    private func shared(on loop: EmbeddedEventLoop) throws -> ProxyLoop {
        ProxyLoop(
            loop: loop, limits: ProxyLimits(), server: try SharedServer(tls: nil, clock: self.clocks.clock()), resolver: NameResolver(),
            disk: .shared)
    }

    /// The first request after a sleep has the right time, and the clocks are not read for each of thousands of requests.
    @Test func aLoopFollowsBeforeARequest() throws {
        let loop = EmbeddedEventLoop()
        let shared = try self.shared(on: loop)
        let told = { Double(shared.timestamp(at: self.clocks.instant).microseconds - 1_800_000_000_000_000) / 1e6 }
        self.clocks.set(by: 3600)
        shared.followWallClock()
        #expect(told() == 3600)
        self.clocks.set(by: 3600)
        shared.followWallClock()
        #expect(told() == 3600)
        loop.advanceTime(by: .milliseconds(50))
        shared.readClock()
        shared.followWallClock()
        #expect(told() == 7200)
    }

    @Test func aLoopFollowsEachSecond() throws {
        let loop = EmbeddedEventLoop()
        let shared = try self.shared(on: loop)
        shared.begin()
        self.clocks.set(by: 3600)
        let told = { Double(shared.timestamp(at: self.clocks.instant).microseconds - 1_800_000_000_000_000) / 1e6 }
        #expect(told() == 0)
        loop.advanceTime(by: .seconds(1))
        #expect(told() == 3600)
        shared.end()
    }
}
