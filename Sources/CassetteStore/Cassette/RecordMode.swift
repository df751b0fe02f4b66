/// What a run does with the requests it sees: replay them, record them, both or neither.
public enum RecordMode: String, Sendable, Hashable, CaseIterable {
    /// Replay only: what was not recorded is refused.
    case none
    /// Record when there is no cassette yet, replay only when there is one.
    case once
    /// Replay what was recorded, record what was not.
    case newEpisodes = "new-episodes"
    /// Record everything anew.
    case all
    /// Forward everything, record nothing.
    case passthrough

    /// What to do with a request for which no recorded exchange is left.
    package enum MissRule: Sendable, Hashable {
        case forward(record: Bool)
        case refuse
    }

    /// Whether recorded exchanges are looked up at all.
    package var replays: Bool {
        switch self {
        case .none, .once, .newEpisodes: true
        case .all, .passthrough: false
        }
    }

    package func missRule(hasCassette: Bool) -> MissRule {
        switch self {
        case .none: .refuse
        case .once: hasCassette ? .refuse : .forward(record: true)
        case .newEpisodes, .all: .forward(record: true)
        case .passthrough: .forward(record: false)
        }
    }
}
