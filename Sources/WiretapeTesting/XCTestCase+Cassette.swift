#if canImport(XCTest)
public import Foundation
public import Wiretape
public import XCTest

extension XCTestCase {
    /// Runs a part of a test with a cassette: sessions without a transport of their own replay from it, or record into it.
    ///
    ///     func testUpload() throws {
    ///         try withCassette("pets/upload") { … }
    ///     }
    ///
    /// A miss, unused exchanges or a broken order fail the test with the report. If the test fails in the body, nothing is recorded. Name,
    /// folder and mode are determined as with the trait `cassette` of Swift Testing. Without a name, the cassette is named after the class
    /// and the method.
    ///
    /// - Throws: the error of the body, or an error if the cassette cannot be opened.
    public func withCassette<Result>(
        _ name: String? = nil, mode: TestMode = .automatic, unused: UnusedRule? = nil, escapes: EscapeRule? = nil,
        order: ReplayOrder? = nil,
        matching: [RequestRule]? = nil, ignoring: [RequestPlace] = [], patterns: [String] = [], stubs: [StubTransport.Rule] = [],
        modify: [TrafficModification] = [], verdict: VerdictRule? = nil, settings: Cassette.Settings? = nil, bundle: Bundle? = nil,
        file: StaticString = #filePath,
        line: UInt = #line,
        function: String = #function,
        perform body: () throws -> Result
    ) throws -> Result {
        let options = CassetteOptions(
            mode: mode, unused: unused, escapes: escapes, order: order, matching: matching, ignoring: ignoring, patterns: patterns,
            stubs: stubs, modify: modify, verdict: verdict, settings: settings, resources: bundle?.resourceURL?.path)
        let use = try self.use(name, options, file: file, function: function)
        let failures = self.failures
        do {
            let result = try Cassette.$current.withValue(use.cassette, operation: body)
            self.end(use, failed: self.failures > failures, file: file, line: line)
            return result
        } catch {
            self.end(use, failed: true, file: file, line: line)
            throw error
        }
    }

    /// Runs a part of a test with a cassette.
    ///
    ///     func testUpload() async throws {
    ///         try await withCassette("pets/upload") { … }
    ///     }
    public func withCassette<Result>(
        _ name: String? = nil, mode: TestMode = .automatic, unused: UnusedRule? = nil, escapes: EscapeRule? = nil,
        order: ReplayOrder? = nil,
        matching: [RequestRule]? = nil, ignoring: [RequestPlace] = [], patterns: [String] = [], stubs: [StubTransport.Rule] = [],
        modify: [TrafficModification] = [], verdict: VerdictRule? = nil, settings: Cassette.Settings? = nil, bundle: Bundle? = nil,
        file: StaticString = #filePath,
        line: UInt = #line,
        function: String = #function,
        isolation: isolated (any Actor)? = #isolation, perform body: () async throws -> Result
    ) async throws -> Result {
        let options = CassetteOptions(
            mode: mode, unused: unused, escapes: escapes, order: order, matching: matching, ignoring: ignoring, patterns: patterns,
            stubs: stubs, modify: modify, verdict: verdict, settings: settings, resources: bundle?.resourceURL?.path)
        let use = try self.use(name, options, file: file, function: function)
        let failures = self.failures
        do {
            let result = try await Cassette.$current.withValue(use.cassette, operation: body, isolation: isolation)
            self.end(use, failed: self.failures > failures || Task.isCancelled, file: file, line: line)
            return result
        } catch {
            self.end(use, failed: true, file: file, line: line)
            throw error
        }
    }

    private var failures: Int { self.testRun?.totalFailureCount ?? 0 }

    private func use(_ name: String?, _ options: CassetteOptions, file: StaticString, function: String) throws -> CassetteUse {
        let named = if let name { try CassetteName(name) } else { CassetteName(ofTest: ["\(type(of: self))", function]) }
        let qualified = String(reflecting: type(of: self))
        // "ShopTests.PetTests": the module is before the first dot.
        let test = TestIdentity(
            module: qualified.split(separator: ".").first.map(String.init) ?? qualified, name: "\(type(of: self))/\(function)")
        return try CassetteUse(
            TestPlan(
                named, options, for: test, isNamedAfterTest: name == nil, source: "\(file)",
                environment: ProcessInfo.processInfo.environment))
    }

    private func end(_ use: CassetteUse, failed: Bool, file: StaticString, line: UInt) {
        let ending = use.end(failed: failed)
        if let problem = ending.problem { XCTFail(problem, file: file, line: line) }
        ending.sayWarning(of: self.name)
        if let recording = ending.recording { FileHandle.standardError.write(Data("wiretape: \(self.name) \(recording)\n".utf8)) }
    }
}
#endif
