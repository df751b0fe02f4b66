import ClientTestSupport

/// The differences of a way or a platform from HTTP: a change in the toolchain changes them.
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
        /// It ends the process with this message, so it has to run in a process of its own.
        case dies(String)
    }

    struct Row: Sendable {
        var behaviour: String
        var ways: Set<WayKind>
        var platforms: Set<Platform> = [.linux, .apple]
        var outcome: Outcome
        /// Whether the cassette has it: a request that is refused before anything is sent is no exchange.
        var isRecorded = true
    }

    let rows: [Row]

    func outcome(_ behaviour: Behaviour, _ way: WayKind, _ platform: Platform = .current) -> Outcome {
        self.row(behaviour, way, platform)?.outcome ?? .lines(behaviour.lines)
    }

    func isRecorded(_ behaviour: Behaviour, _ way: WayKind, _ platform: Platform = .current) -> Bool {
        self.row(behaviour, way, platform)?.isRecorded ?? true
    }

    /// The first match.
    private func row(_ behaviour: Behaviour, _ way: WayKind, _ platform: Platform) -> Row? {
        self.rows.first { $0.behaviour == behaviour.name && $0.ways.contains(way) && $0.platforms.contains(platform) }
    }

    /// Nil if the process ends.
    func lines(_ behaviour: Behaviour, _ way: WayKind) -> [String]? {
        guard case .lines(let lines) = self.outcome(behaviour, way) else { return nil }
        return lines
    }
}
