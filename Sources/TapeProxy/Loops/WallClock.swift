internal import CassetteModel
internal import NIOCore
internal import Platform
internal import TapeBytes

/// Converts instants of the monotonic clock to UTC, so that a later instant never has an earlier time.
///
/// `follow` measures the offset between both clocks again, because the monotonic clock stops while the machine sleeps. If the wall clock
/// has stepped forward, the new offset applies from then on. Steps back are not applied: times stay ahead until the wall clock has caught
/// up, because the order of exchanges in a cassette depends on them. Changes of less than a second, such as NTP's corrections, are ignored,
/// so that durations stay as measured. All event loops share one clock; with two, one would see a step before the other.
final class WallClock: Sendable {
    /// The smallest step forward that is applied, in nanoseconds.
    static let step: Int64 = 1_000_000_000
    /// If reading both clocks took longer than this many nanoseconds, the thread was suspended and the offset is unreliable.
    private static let simultaneous: Int64 = 50_000_000
    /// The number of offsets kept. Instants before the oldest offset use that one as well.
    private static let stepLimit = 16

    private struct Offset {
        /// The first instant to which the offset applies.
        var from: Int64
        var nanoseconds: Int64
    }

    /// Never empty. The latest is last, and each is larger than the previous one.
    private let offsets: Guarded<[Offset]>
    private let wall: @Sendable () -> Int64
    private let monotonic: @Sendable () -> Int64

    /// - Parameters:
    ///   - wall: nanoseconds since 1970.
    ///   - monotonic: nanoseconds as in `NIODeadline`.
    init(
        wall: @escaping @Sendable () -> Int64 = { WallClock.systemTime() },
        monotonic: @escaping @Sendable () -> Int64 = { Int64(NIODeadline.now().uptimeNanoseconds) }
    ) {
        self.wall = wall
        self.monotonic = monotonic
        // In this order, a delay between the two reads makes the offset too small, which `follow` corrects.
        let time = wall()
        self.offsets = Guarded([Offset(from: .min, nanoseconds: time - monotonic())])
    }

    /// The time of the wall clock, including steps back.
    var now: Timestamp { Timestamp(microseconds: self.wall() / 1000) }

    /// Applies a step forward of the wall clock.
    func follow() {
        let before = self.monotonic()
        let time = self.wall()
        let after = self.monotonic()
        guard after - before < Self.simultaneous else { return }
        self.offsets.withLock { offsets in
            guard let last = offsets.last, time - after > last.nanoseconds + Self.step else { return }
            offsets.append(Offset(from: after, nanoseconds: time - after))
            if offsets.count > Self.stepLimit { offsets.removeFirst() }
        }
    }

    func timestamp(at instant: NIODeadline) -> Timestamp {
        let instant = Int64(instant.uptimeNanoseconds)
        let offset = self.offsets.withLock { offsets in
            (offsets.last { $0.from <= instant } ?? offsets[0]).nanoseconds
        }
        return Timestamp(microseconds: (instant + offset) / 1000)
    }

    static func systemTime() -> Int64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
    }
}

/// The time of the event being handled. Read once for each event, because a request needs it a dozen times.
///
/// Not Sendable: lives on its event loop.
final class EventClock {
    private let loop: any EventLoop
    private(set) var now: NIODeadline

    init(loop: any EventLoop) {
        self.loop = loop
        self.now = loop.now
    }

    func read() { self.now = self.loop.now }
}
