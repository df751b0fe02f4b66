internal import TapeBytes
internal import Wiretape

/// What a test's cassette is for.
public enum TestMode: String, Sendable, Hashable, CaseIterable {
    /// The mode of the suite, or else of `WIRETAPE_MODE` (`none`, `once`, `new-episodes`, `all`, `live`), or else `none` if `CI` is set, or
    /// else `once`.
    case automatic
    /// Replays, and refuses requests that were not recorded.
    case none
    /// Records if there is no cassette; else replays.
    case once
    /// Replays recorded exchanges, and records the rest.
    case newEpisodes = "new-episodes"
    /// Records everything anew.
    case all
    /// Uses the network, and records nothing.
    case live

    /// The variable that gives the mode of tests that do not name one.
    static let variable = "WIRETAPE_MODE"

    /// - Throws: if `WIRETAPE_MODE` counts and is not one of its words.
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

/// Whether recorded exchanges that were not used fail a test that replays and is fine otherwise.
public enum UnusedRule: Sendable, Hashable {
    /// They fail it: the code no longer makes a request that it made.
    case fail
    /// They do not: several tests share a cassette, or the test does not always make the request.
    case allow
}

/// The options of a trait or a call; nil and `automatic` leave an option to the suite or the default.
struct CassetteOptions: Sendable {
    var mode = TestMode.automatic
    var unused: UnusedRule?
    var order: ReplayOrder?
    var settings: CassetteSettings?

    /// These options, completed with others.
    func over(_ other: CassetteOptions) -> CassetteOptions {
        CassetteOptions(
            mode: self.mode == .automatic ? other.mode : self.mode, unused: self.unused ?? other.unused, order: self.order ?? other.order,
            settings: self.settings ?? other.settings)
    }
}
