import Testing

@testable import WiretapeTesting

struct FailureWatchTests {
    struct Stop: Error {}

    private func hasFailed(_ body: @escaping @Sendable () async throws -> Void) async throws -> Bool {
        let watch = FailureWatch()
        let test = try #require(Test.current)
        _ = try await issues { try? await watch.watch(test, body) }
        return watch.hasFailed
    }

    @Test func bodyThatPassesHasNotFailed() async throws {
        let failed = try await self.hasFailed {}
        #expect(!failed)
    }

    @Test func failuresThatDoNotThrowAreSeen() async throws {
        let bodies: [@Sendable () async throws -> Void] = [
            { #expect(Bool(false)) },
            { Issue.record("broken") },
            { await Task<Void, Never> { Issue.record("in a task") }.value },
            { await withTaskGroup { group in group.addTask { Issue.record("in a group") } } },
        ]
        for body in bodies {
            let failed = try await self.hasFailed(body)
            #expect(failed)
        }
    }

    @Test func thrownErrorIsSeenAndPassedOn() async throws {
        let watch = FailureWatch()
        let test = try #require(Test.current)
        await #expect(throws: Stop.self) { try await watch.watch(test) { throw Stop() } }
        #expect(watch.hasFailed)
    }

    @Test func whatIsKnownOrAWarningIsNoFailure() async throws {
        let known = try await self.hasFailed { withKnownIssue { Issue.record("known") } }
        #expect(!known)
        let warned = try await self.hasFailed { Issue.record("odd", severity: .warning) }
        #expect(!warned)
    }

    @Test func issuesStillCount() async throws {
        let watch = FailureWatch()
        let test = try #require(Test.current)
        let found = try await issues { try await watch.watch(test) { Issue.record("broken") } }
        #expect(found == ["broken"])
    }
}
