internal import Wiretape

/// What a test's cassette is for.
public enum TestMode: String, Sendable, Hashable, CaseIterable {
    /// As the suite says, or else `WIRETAPE_MODE` (`none`, `once`, `new-episodes`, `all`, `live`), or else `none` where `CI` is set, or else
    /// `once`.
    case automatic
    /// Replays; what was not recorded is refused.
    case none
    /// Records where there is no cassette yet; replays where there is one.
    case once
    /// Replays what was recorded, and records the rest.
    case newEpisodes = "new-episodes"
    /// Records everything anew.
    case all
    /// Asks the network, and records nothing.
    case live

    /// The variable that gives the mode of tests that do not name one.
    static let variable = "WIRETAPE_MODE"

    /// - Throws: where `WIRETAPE_MODE` is asked and says none of its words.
    func recordMode(environment: [String: String]) throws(CassetteTestError) -> RecordMode {
        switch self {
        case .automatic: try Self.automatic(environment)
        case .none: .none
        case .once: .once
        case .newEpisodes: .newEpisodes
        case .all: .all
        case .live: .passthrough
        }
    }

    private static func automatic(_ environment: [String: String]) throws(CassetteTestError) -> RecordMode {
        let word = environment[self.variable] ?? ""
        guard !word.isEmpty else { return EnvironmentSwitch.isOn(environment["CI"]) ? .none : .once }
        guard let mode = TestMode(rawValue: word), mode != .automatic else {
            throw CassetteTestError(
                .badMode, "\(self.variable) is \"\(word)\"; set it to none, once, new-episodes, all or live, or unset it")
        }
        return try mode.recordMode(environment: [:])
    }
}
