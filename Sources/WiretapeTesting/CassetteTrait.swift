internal import CassettePlayback
public import Foundation
internal import TapeBytes
public import Testing
public import Wiretape

/// Runs a test with a cassette: sessions without a transport of their own replay from it, or record into it.
///
/// The cassette belongs to one test function, or to one case of a test with arguments: `Cassettes/uploads/cat.json` for `.cat`. A miss, a
/// broken order, unused exchanges, or requests that were made without the cassette become an issue of the test. A test that fails records
/// nothing.
public struct CassetteTrait: TestTrait, SuiteTrait, TestScoping {
    enum Level: Sendable {
        case test
        case suite
    }

    /// Shared by all copies of a trait.
    final class Identity: Sendable {
        /// How many components the name of its suite has.
        let depth = Guarded<Int?>(nil)
    }

    private let level: Level
    private let name: String?
    private let options: CassetteOptions
    private let filePath: String
    private let identity = Identity()

    init(_ level: Level, _ name: String?, _ options: CassetteOptions, filePath: String) {
        self.level = level
        self.name = name
        self.options = options
        self.filePath = filePath
    }

    public var isRecursive: Bool { true }

    /// Only the last trait of a test function provides a scope, and it stands for the traits of the suites as well: one scope for the
    /// function, or one for each case of a test with arguments. Suites get no scope.
    public func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? {
        if test.isSuite {
            // Called for the outer suite first, and then for those in it.
            self.identity.depth.withLock { $0 = min($0 ?? .max, test.id.nameComponents.count) }
            return nil
        }
        guard (testCase != nil) == test.isParameterized, Self.traits(of: test).last?.identity === self.identity else { return nil }
        return self
    }

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let use: CassetteUse
        do {
            let name = try Self.name(of: testCase)
            use = try await CassetteUse.open {
                try Self.plan(
                    Self.traits(of: test), module: test.id.moduleName, components: test.id.nameComponents, case: name,
                    environment: ProcessInfo.processInfo.environment)
            }
        } catch {
            Issue.record(Comment(rawValue: "\(error)"), sourceLocation: test.sourceLocation)
            return
        }
        try await use.run(test, sourceLocation: test.sourceLocation, function)
    }

    private static func traits(of test: Test) -> [CassetteTrait] { test.traits.compactMap { $0 as? CassetteTrait } }

    /// Nil for a test without arguments.
    private static func name(of testCase: Test.Case?) throws(CassetteTestError) -> String? {
        guard let testCase else { return nil }
        guard let name = try CaseName.text(of: testCase) else {
            throw CassetteTestError(
                .badName,
                "this version of Swift Testing does not show a test's arguments, so their cassettes cannot be told apart: remove the trait, and use withCassette(\"NAME/\\(argument)\") in the test"
            )
        }
        return name
    }

    /// - Parameters:
    ///   - traits: those of a test, with those of its suites first; at least one.
    ///   - module: the module of the test's identifier.
    ///   - components: the suites and the function of the test's identifier.
    ///   - name: the name of the case of a test with arguments.
    static func plan(
        _ traits: [CassetteTrait], module: String, components: [String], case name: String? = nil, environment: [String: String]
    ) throws(CassetteTestError) -> TestPlan {
        let options = traits.reduce(CassetteOptions()) { $1.options.over($0) }
        var (cassette, isNamedAfterTest) = try self.name(traits, components: components)
        if let name { cassette = cassette.appending(CassetteName(ofTest: [name])) }
        return try TestPlan(
            cassette, options, for: TestIdentity(module: module, name: components.joined(separator: "/")),
            isNamedAfterTest: isNamedAfterTest, source: traits.last?.filePath ?? "", environment: environment)
    }

    /// A suite's name replaces that of its type and those of the types around it.
    private static func name(
        _ traits: [CassetteTrait], components: [String]
    ) throws(CassetteTestError) -> (name: CassetteName, isOfTest: Bool) {
        var folder: [CassetteName] = []
        var isOfTest = false
        var done = 0
        for suite in traits where suite.level == .suite {
            let depth = min(suite.identity.depth.withLock { $0 } ?? .max, components.count - 1)
            if let name = suite.name {
                folder.append(try CassetteName(name))
            } else if depth > done {
                folder.append(CassetteName(ofTest: components[done..<depth]))
                isOfTest = true
            }
            done = max(done, depth)
        }
        let own = traits.last { $0.level == .test }
        // If the test has a name of its own and no suite contributes a folder, the cassette is not in the suites' folders.
        let rest = own?.name != nil && folder.isEmpty ? [] : components[min(done, components.count)..<max(done, components.count - 1)]
        if !rest.isEmpty { folder.append(CassetteName(ofTest: rest)) }
        let file = if let name = own?.name { try CassetteName(name) } else { CassetteName(ofTest: components.suffix(1)) }
        return (folder.reversed().reduce(file) { $1.appending($0) }, isOfTest || own?.name == nil || !rest.isEmpty)
    }
}

extension TestTrait where Self == CassetteTrait {
    /// Runs the test with the cassette `Cassettes/<name>.json`, or each case of a test with arguments with `Cassettes/<name>/<case>.json`.
    ///
    ///     @Test(.cassette("pets/upload")) func uploadsAPet() async throws {
    ///         let session = HTTPSession()
    ///         let pet = try await session.request("https://example.test/pets/1").serializingDecodable(Pet.self).value
    ///     }
    ///
    /// The folder `Cassettes` is next to the test's source file, or in the nearest folder above it that has one or is a package's.
    /// `WIRETAPE_CASSETTES` names another.
    ///
    /// - Parameters:
    ///   - name: folders and a name without ".json", inside the folder of the suite's `cassettes` if it has one. If nil, the cassette is
    ///     named after the suites and the function.
    ///   - mode: if `automatic`, the mode of the suite, or else of the environment.
    ///   - unused: whether unused exchanges fail a replay. If nil, the suite decides; by default they do.
    ///   - escapes: what happens to requests for which no cassette is found, such as those of detached tasks. If nil, the suite decides; by
    ///     default they are refused and fail the test.
    ///   - order: whether requests must have the order of the recording; if nil, as in `settings`.
    ///   - matching: the parts of requests that are compared; if nil, as in the suite, or else as in `settings`.
    ///   - ignoring: places in requests that are not compared, in addition to those of the suite and of `settings`.
    ///   - patterns: places whose values count as equal if they match a regular expression, as `json:/id=[0-9a-f-]+`; added to those of the
    ///     suite and of `settings`.
    ///   - stubs: rules that answer requests without recording or replaying them; those of the suite come after.
    ///   - modify: rules that change the traffic, after those of the suite. A rule of the test that matches no request fails it.
    ///   - verdict: judges what the client does with answers that fail; a finding fails the test. If nil, as in the suite, or else as in
    ///     `settings`.
    ///   - settings: how requests are matched, and what is redacted; if nil, those of the suite.
    ///   - bundle: the bundle whose resources contain the folder `Cassettes`, for a machine without the sources. If nil, the suite decides;
    ///     by default the bundles of the tests are searched. Nothing is recorded there.
    public static func cassette(
        _ name: String? = nil, mode: TestMode = .automatic, unused: UnusedRule? = nil, escapes: EscapeRule? = nil,
        order: ReplayOrder? = nil,
        matching: [RequestRule]? = nil, ignoring: [RequestPlace] = [], patterns: [String] = [], stubs: [StubTransport.Rule] = [],
        modify: [TrafficModification] = [], verdict: VerdictRule? = nil, settings: Cassette.Settings? = nil, bundle: Bundle? = nil,
        filePath: String = #filePath
    ) -> Self {
        let options = CassetteOptions(
            mode: mode, unused: unused, escapes: escapes, order: order, matching: matching, ignoring: ignoring, patterns: patterns,
            stubs: stubs, modify: modify, verdict: verdict, settings: settings, resources: bundle?.resourceURL?.path)
        return Self(.test, name, options, filePath: filePath)
    }
}

extension SuiteTrait where Self == CassetteTrait {
    /// Runs each test of the suite, and of suites in it, with a cassette of its own: `Cassettes/<folder>/<test>.json`.
    ///
    ///     @Suite(.cassettes("pets")) struct PetTests {
    ///         @Test func listsPets() async throws { … }                  // Cassettes/pets/listsPets.json
    ///         @Test(.cassette("upload")) func uploads() async throws { … }  // Cassettes/pets/upload.json
    ///     }
    ///
    /// - Parameters:
    ///   - folder: if nil, the folder is named after the suite.
    ///   - mode: as for `cassette`; the options of a test take precedence.
    public static func cassettes(
        _ folder: String? = nil, mode: TestMode = .automatic, unused: UnusedRule? = nil, escapes: EscapeRule? = nil,
        order: ReplayOrder? = nil,
        matching: [RequestRule]? = nil, ignoring: [RequestPlace] = [], patterns: [String] = [], stubs: [StubTransport.Rule] = [],
        modify: [TrafficModification] = [], verdict: VerdictRule? = nil, settings: Cassette.Settings? = nil, bundle: Bundle? = nil,
        filePath: String = #filePath
    ) -> Self {
        let options = CassetteOptions(
            mode: mode, unused: unused, escapes: escapes, order: order, matching: matching, ignoring: ignoring, patterns: patterns,
            stubs: stubs, modify: modify, verdict: verdict, settings: settings, resources: bundle?.resourceURL?.path)
        return Self(.suite, folder, options, filePath: filePath)
    }
}
