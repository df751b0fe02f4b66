import Testing

/// A few processes with a thousand concurrent requests each; `make stress-client` runs many.
@Suite(.serialized) struct ClientStressTests {
    @Test(arguments: 1...2) func aThousandRequestsAtOnceAreAnswered(run: Int) async throws {
        let (ending, errors) = try await ProbeProcess.run("stress", "--adapter", "--requests", "1000")
        #expect(ending == .says("right 1000, cancelled 0 of 1000"), "\(errors)")
    }

    @Test(arguments: 1...2) func cancellationsInBetweenAreHarmless(seed: Int) async throws {
        let (ending, errors) = try await ProbeProcess.run("stress", "--adapter", "--requests", "1000", "--cancels", "\(seed)")
        guard case .says(let text) = ending else {
            Issue.record("it \(ending): \(errors)")
            return
        }
        #expect(text.hasPrefix("right ") && text.hasSuffix(" of 1000"), "\(errors)")
    }
}
