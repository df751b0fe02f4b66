@testable import Wiretape

/// Where a way or a platform differs from what HTTP says: a value that a change of the toolchain has to change.
struct Expectations: Sendable {
    enum Platform: String, Sendable {
        case linux, apple

        static var current: Platform {
            #if canImport(FoundationNetworking)
            .linux
            #else
            .apple
            #endif
        }
    }

    enum Difference: Sendable {
        case lines([String])
        /// Not to be tried in this process, for this reason.
        case impossible(String)
    }

    struct Row: Sendable {
        var behaviour: String
        var ways: Set<WayKind>
        var platforms: Set<Platform>
        var difference: Difference
    }

    let rows: [Row]

    func difference(_ behaviour: Behaviour, _ way: WayKind, _ platform: Platform = .current) -> Difference? {
        self.rows.first { $0.behaviour == behaviour.name && $0.ways.contains(way) && $0.platforms.contains(platform) }?.difference
    }

    static let standard = Expectations(rows: [
        Row(
            behaviour: "trailers", ways: [.live, .recording, .adapter], platforms: [.linux],
            difference: .impossible("URLSession of Swift 6.3 ends the process: transfer completed, but there's no response")),
        Row(
            behaviour: "trailers", ways: [.live, .recording, .adapter], platforms: [.apple],
            difference: .lines(["status 200", "body", "end"])),
        // One field of a name is left of several; it means the same (RFC 9110, 5.3).
        Row(
            behaviour: "fields of one name", ways: [.live, .recording, .replay, .adapter], platforms: [.linux, .apple],
            difference: .lines(["status 200", "X-List: a, b", "end"])),
        // What a client recorded that went away is the answer as far as it came.
        Row(
            behaviour: "cancelled", ways: [.replay], platforms: [.linux, .apple],
            difference: .lines(["status 200", "half", "failed truncated"])),
        // URLSession has no place for them in what it tells.
        Row(
            behaviour: "early hints", ways: [.adapter], platforms: [.linux, .apple], difference: .lines(["status 200", "hello", "end"])),
        // Nobody could record them.
        Row(
            behaviour: "trailers", ways: [.replay], platforms: [.linux, .apple],
            difference: .impossible("the client that records does not see trailers; the proxy's recording is replayed elsewhere")),
    ])
}
