internal import CassettePlayback
public import Foundation
internal import TapeBytes
public import Testing
public import Wiretape

/// Runs a part of a test of Swift Testing with a cassette, for names that are known only at run time, such as one for each argument.
///
///     @Test(arguments: Kind.allCases) func listsPets(of kind: Kind) async throws {
///         try await withCassette("pets/\(kind)") { … }
///     }
///
/// The parameters are those of the trait `cassette`. A problem of the replay becomes an issue of the test; outside of a test it is thrown.
///
/// - Throws: the error of the body, or an error if the cassette cannot be opened.
public func withCassette<Result: Sendable>(
    _ name: String, mode: TestMode = .automatic, unused: UnusedRule? = nil, escapes: EscapeRule? = nil, order: ReplayOrder? = nil,
    matching: [RequestRule]? = nil, ignoring: [RequestPlace] = [], patterns: [String] = [], stubs: [StubTransport.Rule] = [],
    modify: [TrafficModification] = [], verdict: VerdictRule? = nil, settings: Cassette.Settings? = nil, bundle: Bundle? = nil,
    filePath: String = #filePath,
    sourceLocation: SourceLocation = #_sourceLocation,
    perform body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    let options = CassetteOptions(
        mode: mode, unused: unused, escapes: escapes, order: order, matching: matching, ignoring: ignoring, patterns: patterns,
        stubs: stubs, modify: modify, verdict: verdict, settings: settings, resources: bundle?.resourceURL?.path)
    let test = Test.current
    let use = try await CassetteUse.open {
        try TestPlan(
            CassetteName(name), options,
            for: test.map { TestIdentity(module: $0.id.moduleName, name: $0.id.nameComponents.joined(separator: "/")) }, source: filePath,
            environment: ProcessInfo.processInfo.environment)
    }
    guard let test else { return try await use.run(outsideOfTests: body) }
    let result = Guarded<Result?>(nil)
    try await use.run(test, sourceLocation: sourceLocation) {
        let value = try await body()
        result.withLock { $0 = value }
    }
    guard let value = result.withLock({ $0 }) else { throw CancellationError() }
    return value
}

extension CassetteUse {
    fileprivate func run<Result>(outsideOfTests body: () async throws -> Result) async throws -> Result {
        let result: Result
        do {
            result = try await Cassette.$current.withValue(self.cassette) { try await body() }
        } catch {
            _ = await BlockingWork.run { self.end(failed: true) }
            throw error
        }
        let failed = Task.isCancelled
        let ending = await BlockingWork.run { self.end(failed: failed) }
        if let problem = ending.problem { throw CassetteTestError(.notClean, problem) }
        ending.sayWarning(of: nil)
        ending.recording?.say(of: nil)
        return result
    }
}
