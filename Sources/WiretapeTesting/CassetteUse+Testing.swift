internal import Testing
internal import Wiretape

extension CassetteUse {
    /// Runs the body of a test of Swift Testing with the cassette and closes it; what fails the test becomes an issue of it.
    ///
    /// A test that is cancelled is not judged.
    func run(_ test: Test, sourceLocation: SourceLocation, _ body: @Sendable () async throws -> Void) async throws {
        let watch = FailureWatch()
        let result: Result<Void, any Error>
        do {
            try await Cassette.$current.withValue(self.cassette) { try await watch.watch(test, body) }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        let problem = self.end(failed: watch.hasFailed || Task.isCancelled)
        if let problem, !Task.isCancelled { Issue.record(Comment(rawValue: problem), sourceLocation: sourceLocation) }
        try result.get()
    }
}
