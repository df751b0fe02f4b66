internal import CassetteStore
internal import Foundation
internal import Wiretape

/// Which cassette a test uses, and how.
struct TestPlan: Sendable {
    var name: CassetteName
    var path: String
    var mode: RecordMode
    /// Whether the test or its suite sets the mode, so that the environment is ignored.
    var isModeFixed: Bool
    /// Whether a CI service runs the test, so that `once` records nothing.
    var isCI: Bool
    /// Whether nothing is recorded because the cassettes are in a bundle.
    var isBundled: Bool
    var unused: UnusedRule
    var escapes: EscapeRule
    var settings: Cassette.Settings
    /// Nil outside of tests.
    var test: TestIdentity?
    /// The file that lists the used cassettes; nil if there is none.
    var useList: String?

    /// - Parameters:
    ///   - test: nil outside of tests.
    ///   - isNamedAfterTest: whether part of the name is that of a suite or function, so that a test of another module may have the same
    ///     name.
    ///   - source: the test's source file.
    init(
        _ name: CassetteName, _ options: CassetteOptions, for test: TestIdentity? = nil, isNamedAfterTest: Bool = false, source: String,
        environment: [String: String]
    ) throws(CassetteTestError) {
        let folder = try TestCassetteFolder(
            forSource: source, module: test?.module, resources: options.resources, environment: environment)
        self.name = name
        self.path =
            if let test, isNamedAfterTest {
                ModulePaths.shared.path(name, in: folder.path, module: test.module)
            } else {
                name.path(in: folder.path)
            }
        let mode = try options.mode.recordMode(environment: environment)
        self.mode = folder.isBundled ? try Self.replaying(mode, from: folder.path) : mode
        self.isModeFixed = options.mode != .automatic
        self.isCI = TestMode.isCI(environment)
        self.isBundled = folder.isBundled
        self.unused = options.unused ?? .fail
        self.escapes = options.escapes ?? (self.mode == .passthrough ? .allow : .fail)
        self.settings = options.settings ?? Cassette.Settings()
        if let order = options.order { self.settings.order = order }
        if let matching = options.matching { self.settings.match = matching.map(\.description) }
        self.settings.ignore += options.ignoring.map(\.description)
        self.settings.patterns += options.patterns
        self.settings.stubs = options.stubs + self.settings.stubs
        self.settings.modify += options.modify
        self.settings.verdict = options.verdict ?? self.settings.verdict
        self.settings.audience = .test(namesMode: self.isModeFixed)
        self.settings.test = test?.description
        self.test = test
        self.useList = environment[OpenedCassettes.variable].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The test and its cassette, for messages of other tests: "ShopTests.Pets/list() (pets/list)".
    var label: String { self.test.map { "\($0) (\(self.name))" } ?? "\(self.name)" }

    /// The mode in a bundle, which is part of a build and often read-only.
    private static func replaying(_ mode: RecordMode, from folder: String) throws(CassetteTestError) -> RecordMode {
        switch mode {
        case .none, .passthrough: mode
        case .once: .none
        case .newEpisodes, .all:
            throw CassetteTestError(
                .readOnly,
                "the cassettes are in the test bundle, \"\(folder)\", where nothing is recorded: \(TestCassetteFolder.recordingAdvice)")
        }
    }
}

/// The test that a cassette is opened for.
struct TestIdentity: Sendable, Hashable, CustomStringConvertible {
    var module: String
    /// Suites and function, such as "Pets/upload(size:)".
    var name: String

    /// As in the head of a cassette: "ShopTests.Pets/upload(size:)".
    var description: String { "\(self.module).\(self.name)" }
}
