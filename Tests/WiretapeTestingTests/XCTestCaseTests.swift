import Testing
import Wiretape
@testable import WiretapeTesting
import XCTest

/// The cassettes are next to this file.
final class XCTestCaseCassetteTests: XCTestCase {
    func testCassetteIsForTheBodyAlone() throws {
        let path = try withCassette("trait/one", mode: .none, unused: .allow) { Cassette.current?.path }
        XCTAssertEqual(path?.hasSuffix("/WiretapeTestingTests/Cassettes/trait/one.json"), true)
        XCTAssertNil(Cassette.current)
    }

    func testAsyncBodyReplays() async throws {
        let text = try await withCassette("trait/one", mode: .none) {
            try await Exchanges.ask(Cassette.current?.transport, page: 1)
        }
        XCTAssertEqual(text, "1")
    }

    func testMethodGivesTheName() throws {
        try withCassette(mode: .none, unused: .allow) {
            XCTAssertEqual(
                Cassette.current?.path.hasSuffix("/Cassettes/XCTestCaseCassetteTests/testMethodGivesTheName.json"), true)
            XCTAssertEqual(
                Cassette.current?.settings.test, "WiretapeTestingTests.XCTestCaseCassetteTests/testMethodGivesTheName()")
        }
    }

    func testCassetteThatCannotBeOpenedIsThrown() {
        XCTAssertThrowsError(try withCassette("../x") {}) { XCTAssertEqual(($0 as? CassetteTestError)?.code, .badName) }
        XCTAssertThrowsError(try withCassette("trait/none", mode: .none) {})
    }
}

#if !canImport(ObjectiveC)
/// Runs tests of XCTest to see how they fail. XCTest has a single current test.
@Suite(.serialized) struct XCTestCaseFailureTests {
    /// Runs on its own thread, which XCTest blocks.
    private func failures(_ body: @escaping @Sendable (XCTestCase) throws -> Void) async -> Int? {
        await withCheckedContinuation { continuation in
            Thread {
                let test = XCTestCase(name: "inner", testClosure: body)
                test.run()
                continuation.resume(returning: test.testRun?.totalFailureCount)
            }.start()
        }
    }

    @Test func unusedExchangeFailsOnce() async {
        #expect(await self.failures { try $0.withCassette("trait/one", mode: .none) {} } == 1)
        #expect(await self.failures { try $0.withCassette("trait/one", mode: .none, unused: .allow) {} } == 0)
    }

    @Test func failedAssertionIsTheOnlyIssue() async {
        #expect(await self.failures { try $0.withCassette("trait/one", mode: .none) { XCTFail("broken") } } == 1)
    }

    @Test func thrownErrorIsTheOnlyIssue() async {
        #expect(await self.failures { try $0.withCassette("trait/one", mode: .none) { throw CancellationError() } } == 1)
    }
}
#endif
