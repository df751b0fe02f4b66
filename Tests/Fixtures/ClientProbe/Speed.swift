import Foundation

/// Requests per second of the clock, and per second of CPU time.
struct Speed: CustomStringConvertible {
    /// A moment, and the CPU time up to it.
    struct Start {
        private let time = ContinuousClock.now
        private let work = Start.work

        func speed(of count: Int) -> Speed {
            Speed(
                perSecond: Double(count) / (self.time.duration(to: .now) / .seconds(1)),
                perCoreSecond: Double(count) / (Start.work - self.work))
        }

        /// The CPU seconds of all threads, including those in the kernel.
        private static var work: Double {
            var time = timespec()
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
        }
    }

    var perSecond: Double
    var perCoreSecond: Double

    /// The better one of each value.
    func better(_ other: Speed) -> Speed {
        Speed(perSecond: max(self.perSecond, other.perSecond), perCoreSecond: max(self.perCoreSecond, other.perCoreSecond))
    }

    var description: String { "\(Int(self.perSecond)) requests/s, \(Int(self.perCoreSecond)) per core" }
}
