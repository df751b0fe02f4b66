import CassetteModel
import CassettePlayback
import Foundation
import TapeBytes
import Testing
@testable import TrafficRules

/// Recordings of clients that do nothing wrong: the verdict accuses none of them.
@Suite struct SampleCassettesTests {
    @Test(arguments: ["Cassettes/demo.json", "Cassettes/pets.json", "Cassettes/stream.json"])
    func noClientIsAccused(name: String) throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let cassette = try RecordedCassette(path: root.appendingPathComponent(name).path)
        #expect(cassette.count > 0)
        let interactions = try (0..<cassette.count).map { try cassette.interaction(at: $0) }
        let first = interactions.map(\.started).min() ?? interactions[0].started
        let attempts = interactions.map { interaction -> ClientVerdict.Attempt in
            let start = Duration.microseconds(interaction.started.microseconds - first.microseconds)
            let end = start + .nanoseconds(Int64((interaction.timing.total ?? 0) * 1e6))
            let outcome: ClientVerdict.Attempt.Outcome =
                switch interaction.outcome {
                case .complete: .answer(interaction.response?.status ?? 0)
                case .cut: .cut
                case .failed: .lost
                }
            let wait = interaction.response?.headers.first("retry-after").flatMap { Int($0) }
            return ClientVerdict.Attempt(
                start: start, end: end, method: interaction.request.method, redactedURL: interaction.request.url, outcome: outcome,
                isInjected: false, retryAfter: wait.map { .seconds($0) }, connection: interaction.connection?.id ?? 0)
        }
        let end = (attempts.compactMap(\.end).max() ?? .zero) + .seconds(600)
        #expect(ClientVerdict(attempts, run: .init(end: end, exitCode: 0)).findings == [])
        #expect(ClientVerdict(attempts, run: .init(end: end)).findings == [])
    }
}
