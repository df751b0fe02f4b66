import CassetteFormat
import CassetteModel
import CassetteRedaction
import TapeBytes
import TapeExchange
import TapeTestSupport
import Testing
@testable import TapeRecorder

@Suite struct SearchAheadTests {
    private static let secret = "kT7-pQ2xV9mZ4wLr8"

    private func exchange(_ id: Int, saying words: String = "", isCoded: Bool = true, size: Int = 9000) throws -> TapedExchange {
        var generator = SeededGenerator(seed: UInt64(id))
        let text = Array((words + String((0..<size).map { _ in "abcdefghij ".randomElement(using: &generator) ?? "a" })).utf8)
        let wire = text.withUnsafeBytes { Deflater.encode($0, DeflateParameters(level: 6), format: .gzip) }
        let fields = ["Content-Type: text/plain"] + (isCoded ? ["Content-Encoding: gzip"] : [])
        return TapedExchanges.exchange(id, fields: fields, body: isCoded ? try #require(wire) : text)
    }

    private func batch(_ exchanges: [TapedExchange]) -> RecorderQueue.Batch {
        let entries = exchanges.map { RecorderQueue.Entry(item: .exchange($0, stored: nil), put: 0) }
        return RecorderQueue.Batch(entries: entries, weight: 0, isClosed: false)
    }

    /// Searches everything at once, before the results are needed.
    private func ahead(_ redactor: Redactor) throws -> SearchAhead {
        try #require(SearchAhead(redactor, processors: 2) { $0() })
    }

    @Test func bodiesWithoutSecretsAreReportedAndNothingIsLearned() throws {
        let redactor = Redactor()
        let ahead = try self.ahead(redactor)
        ahead.begin(
            self.batch([
                try self.exchange(1), try self.exchange(2), try self.exchange(3, saying: "Authorization: Bearer \(Self.secret) "),
                try self.exchange(4, isCoded: false), try self.exchange(5, size: 20), try self.exchange(6),
            ]))
        #expect(ahead.clean(1) == nil, "the first one is the caller's")
        #expect(ahead.clean(2)?.keys.count == 1 && ahead.clean(6)?.keys.count == 1)
        #expect(ahead.clean(3) == nil && ahead.clean(4) == nil && ahead.clean(5) == nil && ahead.clean(7) == nil)
        #expect(redactor.vault.generation == 0)
        #expect(ahead.clean(2) == nil, "it is asked once")
    }

    @Test func knownSecretIsFound() throws {
        let redactor = Redactor()
        _ = redactor.vault.placeholder(for: Array(Self.secret.utf8), kind: "token")
        let ahead = try self.ahead(redactor)
        ahead.begin(self.batch([try self.exchange(1), try self.exchange(2, saying: Self.secret + " "), try self.exchange(3)]))
        #expect(ahead.clean(2)?.keys.isEmpty != false)
        let clean = try #require(ahead.clean(3))
        #expect(clean.keys.count == 1 && clean.generation == redactor.vault.generation)
    }

    @Test func nothingIsKeptOfABatchThatIsDone() throws {
        let ahead = try self.ahead(Redactor())
        ahead.begin(self.batch([try self.exchange(1), try self.exchange(2)]))
        ahead.forget()
        #expect(ahead.clean(2) == nil)
    }

    @Test func bodyThatNoThreadHasBegunIsLeftToTheCaller() throws {
        let waiting = Guarded<[@Sendable () -> Void]>([])
        let ahead = try #require(SearchAhead(Redactor(), processors: 9) { run in waiting.withLock { $0.append(run) } })
        ahead.begin(self.batch([try self.exchange(1), try self.exchange(2), try self.exchange(3)]))
        #expect(waiting.withLock { $0.count } == 2, "as many threads as there is something for")
        #expect(ahead.clean(2) == nil)
        for run in waiting.withLock({ $0 }) { run() }
        #expect(ahead.clean(3)?.keys.count == 1)
    }

    @Test func oneProcessorIsTheRecordersOwn() {
        #expect(SearchAhead(Redactor(), processors: 1) == nil)
    }
}
