import TapeBytes
import Testing

/// The issues that `body` records, which do not fail the test.
func issues(of body: @escaping @Sendable () async throws -> Void) async throws -> [String] {
    let test = try #require(Test.current)
    let seen = Guarded<[String]>([])
    let swallow: IssueHandlingTrait = .compactMapIssues { issue in
        seen.withLock {
            $0.append(
                (issue.comments.map(\.rawValue) + [issue.isFailure ? "" : "no failure"]).filter { !$0.isEmpty }.joined(separator: "\n"))
        }
        return nil
    }
    try await swallow.provideScope(for: test, testCase: nil, performing: body)
    return seen.withLock { $0 }
}
