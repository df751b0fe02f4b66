public import TapeBytes
internal import Foundation
internal import Wiretape

/// How a test uses its cassette.
public enum TestMode: String, Sendable, Hashable, CaseIterable {
    /// The mode of the suite, or else that of `WIRETAPE_MODE` (`none`, `once`, `new-episodes`, `all`, `live`). Without either, `none` if
    /// `CI` is set and `once` if not.
    case automatic
    /// Replays, and refuses requests that were not recorded.
    case none
    /// Records if there is no cassette; otherwise replays. Records nothing where `CI` is set.
    case once
    /// Replays recorded exchanges, and records the rest.
    case newEpisodes = "new-episodes"
    /// Records everything again.
    case all
    /// Uses the network, and records nothing.
    case live

    /// The variable that gives the mode of tests that do not name one.
    static let variable = "WIRETAPE_MODE"

    /// - Throws: if `WIRETAPE_MODE` applies and is not one of its words.
    func recordMode(environment: [String: String]) throws(CassetteTestError) -> RecordMode {
        switch self {
        case .automatic: try Self.automatic(environment)
        case .none: .none
        case .once: Self.isCI(environment) ? .none : .once
        case .newEpisodes: .newEpisodes
        case .all: .all
        case .live: .passthrough
        }
    }

    private static func automatic(_ environment: [String: String]) throws(CassetteTestError) -> RecordMode {
        let word = environment[self.variable] ?? ""
        guard !word.isEmpty else { return try TestMode.once.recordMode(environment: environment) }
        guard let mode = TestMode(rawValue: word), mode != .automatic else {
            throw CassetteTestError(
                .badMode, "\(self.variable) is \"\(word)\"; set it to none, once, new-episodes, all or live, or unset it")
        }
        return try mode.recordMode(environment: environment)
    }

    /// Whether a CI service runs the tests. `xcodebuild` passes a variable to tests in a simulator, or on a device, only if its name begins
    /// with `TEST_RUNNER_`, and removes that prefix; other runners may keep it.
    static func isCI(_ environment: [String: String]) -> Bool {
        ["CI", "TEST_RUNNER_CI"].contains { EnvironmentSwitch.isOn(environment[$0]) }
    }
}

/// Whether recorded exchanges that were not used fail a test that replays and otherwise passes.
public enum UnusedRule: Sendable, Hashable {
    /// They fail the test: the code no longer makes a request that it made before.
    case fail
    /// They do not fail it: several tests share a cassette, or the test does not always make the request.
    case allow
}

/// Whether requests without a cassette may use the network while a test uses one. They come from detached tasks, queues and callbacks, and
/// it is not known which test made them. If several tests run at once, each of them has to allow it.
public enum EscapeRule: Sendable, Hashable {
    /// They are refused, and fail the tests that could have made them.
    case fail
    /// They use the network and are not recorded.
    case allow
}

/// The options of a trait or a call; nil and `automatic` leave an option to the suite or the default.
struct CassetteOptions: Sendable {
    var mode = TestMode.automatic
    var unused: UnusedRule?
    var escapes: EscapeRule?
    var order: ReplayOrder?
    var matching: [RequestRule]?
    var ignoring: [RequestPlace] = []
    var patterns: [String] = []
    var stubs: [StubTransport.Rule] = []
    var modify: [TrafficModification] = []
    var verdict: VerdictRule?
    var settings: Cassette.Settings?
    /// The folder of the resources of the test's bundle.
    var resources: String?

    /// These options, completed with others.
    func over(_ other: CassetteOptions) -> CassetteOptions {
        CassetteOptions(
            mode: self.mode == .automatic ? other.mode : self.mode, unused: self.unused ?? other.unused,
            escapes: self.escapes ?? other.escapes, order: self.order ?? other.order, matching: self.matching ?? other.matching,
            ignoring: other.ignoring + self.ignoring, patterns: other.patterns + self.patterns, stubs: self.stubs + other.stubs,
            modify: other.modify.map { modification in
                var modification = modification
                modification.isOfSuite = true
                return modification
            } + self.modify,
            verdict: self.verdict ?? other.verdict, settings: self.settings ?? other.settings,
            resources: self.resources ?? other.resources)
    }
}

/// Why a test cannot use its cassette.
///
/// The message says what went wrong with which name or setting, and what to do next.
public typealias CassetteTestError = CodedError<CassetteTestErrorCode>

/// A kind of error; more kinds may be added.
public struct CassetteTestErrorCode: Hashable, Sendable, CustomStringConvertible {
    private enum Value { case badName, badMode, noFolder, readOnly, inUse, notClean }

    private var value: Value

    /// The cassette's name is not a path below the cassette folder.
    public static var badName: Self { Self(value: .badName) }
    /// `WIRETAPE_MODE` is not a mode.
    public static var badMode: Self { Self(value: .badMode) }
    /// The folder of cassettes cannot be found, neither from the test's source file nor in a bundle.
    public static var noFolder: Self { Self(value: .noFolder) }
    /// The cassettes are in a bundle, and the mode records.
    public static var readOnly: Self { Self(value: .readOnly) }
    /// Another test of the process is recording the cassette.
    public static var inUse: Self { Self(value: .inUse) }
    /// The replay was not clean, or the recording was not kept; thrown only outside of a test.
    public static var notClean: Self { Self(value: .notClean) }

    public var description: String { "\(self.value)" }
}
