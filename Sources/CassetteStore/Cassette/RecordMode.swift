/// How a run treats the requests it sees: replays them, records them, both or neither.
public enum RecordMode: String, Sendable, Hashable, CaseIterable {
    /// Replay only; requests that were not recorded are refused.
    case none
    /// Record if there is no cassette yet, otherwise replay only.
    case once
    /// Replay recorded requests, and record all others.
    case newEpisodes = "new-episodes"
    /// Record everything again.
    case all
    /// Forward everything, and record nothing.
    case passthrough

    /// How to treat a request for which no recorded exchange is left.
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
