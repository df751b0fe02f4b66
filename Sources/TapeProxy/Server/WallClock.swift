internal import NIOCore
internal import TapeCore

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Turns instants of the monotonic clock into UTC, with the offset between both read once: a clock set back while recording
/// does not change the order of exchanges.
struct WallClock: Sendable {
    private let offset: Int64

    init() {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let wall = Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
        self.offset = wall - Int64(NIODeadline.now().uptimeNanoseconds)
    }

    func timestamp(at instant: NIODeadline) -> Timestamp {
        Timestamp(microseconds: (Int64(instant.uptimeNanoseconds) + self.offset) / 1000)
    }
}
