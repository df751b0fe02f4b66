internal import CassetteModel
internal import NIOCore
internal import Platform
internal import TapeBytes

/// Turns instants of the monotonic clock into UTC, so that of two instants the later one never has the earlier time.
///
/// The offset between both clocks is looked at again and again (`follow`), since the monotonic one stands still while the machine sleeps. The
/// wall clock's steps forward are taken over, from then on. Its steps back are not: until it has caught up, times stay ahead of it by as much,
/// since a cassette is put in order by them. What is smaller than a second, as NTP's corrections are, leaves differences as they were
/// measured. Serves any number of event loops, which share one: with two, a step would be seen by one before the other.
final class WallClock: Sendable {
    /// A step forward that is taken over.
    static let step: Int64 = 1_000_000_000
    /// Both clocks count as read at once within so many nanoseconds; else something came between, and the offset is not to be trusted.
    private static let simultaneous: Int64 = 50_000_000
    /// Steps whose instants are told apart: exchanges that began before the first of so many get their time from the second.
    private static let stepLimit = 16

    private struct Offset {
        /// The first instant that it holds for.
        var from: Int64
        var nanoseconds: Int64
    }

    /// Never empty, the latest last; each is larger than the one before.
    private let offsets: Guarded<[Offset]>
    private let wall: @Sendable () -> Int64
    private let monotonic: @Sendable () -> Int64

    /// - Parameters:
    ///   - wall: nanoseconds since 1970.
    ///   - monotonic: nanoseconds as `NIODeadline` has them.
    init(
        wall: @escaping @Sendable () -> Int64 = { WallClock.systemTime() },
        monotonic: @escaping @Sendable () -> Int64 = { Int64(NIODeadline.now().uptimeNanoseconds) }
    ) {
        self.wall = wall
        self.monotonic = monotonic
        // Read in this order, what comes between makes the offset too small, which `follow` mends.
        let time = wall()
        self.offsets = Guarded([Offset(from: .min, nanoseconds: time - monotonic())])
    }

    /// What the wall clock says, whichever way it was set.
    var now: Timestamp { Timestamp(microseconds: self.wall() / 1000) }

    /// Takes over a step forward.
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
