import Platform
import TapeTestSupport

/// The time that a test waits for a real condition before it gives up.
struct Deadline {
    private let end: Double

    init(seconds: Double) { self.end = Self.now + seconds }

    /// The seconds of the monotonic clock.
    static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    var hasPassed: Bool { Self.now > self.end }

    var remainingMilliseconds: Int32 { Int32(max(0, (self.end - Self.now) * 1000)) }

    /// Polls every few milliseconds until there is a value.
    static func wait<Value>(for what: String, seconds: Double = 120, _ look: () throws -> Value?) throws -> Value {
        let deadline = Deadline(seconds: seconds)
        while true {
            if let value = try look() { return value }
            if deadline.hasPassed { throw TestProblem("waited \(seconds) s in vain for \(what)") }
            poll(nil, 0, 5)
        }
    }
}
