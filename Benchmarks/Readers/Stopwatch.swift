internal import Platform

/// CPU seconds of this thread, so that what else the machine does counts little.
enum Stopwatch {
    static func seconds(_ work: () -> Void) -> Double {
        let begun = self.now()
        work()
        return self.now() - begun
    }

    static func median(_ figures: [Double]) -> Double { figures.sorted()[figures.count / 2] }

    private static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
