import ClientTestSupport

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

    enum Outcome: Sendable, Equatable {
        case lines([String])
        /// It ends the process, with this in its last words: to be tried in one of its own.
        case dies(String)
    }

    struct Row: Sendable {
        var behaviour: String
        var ways: Set<WayKind>
        var platforms: Set<Platform> = [.linux, .apple]
        var outcome: Outcome
    }

    let rows: [Row]

    /// A platform's row goes before one for all.
    func outcome(_ behaviour: Behaviour, _ way: WayKind, _ platform: Platform = .current) -> Outcome {
        let row = self.rows.first { $0.behaviour == behaviour.name && $0.ways.contains(way) && $0.platforms.contains(platform) }
        return row?.outcome ?? .lines(behaviour.lines)
    }

    /// Nil where the process ends.
    func lines(_ behaviour: Behaviour, _ way: WayKind) -> [String]? {
        guard case .lines(let lines) = self.outcome(behaviour, way) else { return nil }
        return lines
    }
}
