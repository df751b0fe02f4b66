internal import TapeBytes
internal import Testing

/// Sees whether a test of Swift Testing fails while its body runs.
///
/// Failed expectations do not throw: they are issues. One that belongs to no test, as of a detached task, counts for all that run.
/// Before Swift 6.2 the library tells nobody of issues, and only thrown errors are seen.
struct FailureWatch: Sendable {
    private let seen = Guarded(false)

    /// Whether something has failed the test: no warning, and no known issue.
    var hasFailed: Bool { self.seen.withLock { $0 } }

    func watch(_ test: Test, _ body: @Sendable () async throws -> Void) async throws {
        do {
            #if compiler(>=6.2)
            let watching: IssueHandlingTrait = .compactMapIssues { issue in
                if self.isFailure(issue) { self.seen.withLock { $0 = true } }
                return issue
            }
            try await watching.provideScope(for: test, testCase: nil, performing: body)
            #else
            try await body()
            #endif
        } catch {
            self.seen.withLock { $0 = true }
            throw error
        }
    }

    private func isFailure(_ issue: Issue) -> Bool {
        #if compiler(>=6.3)
        issue.isFailure
        #else
        true
        #endif
    }
}
