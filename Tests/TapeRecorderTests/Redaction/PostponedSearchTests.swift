import CassetteFormat
import CassetteModel
import CassetteRedaction
import CassetteStore
import Foundation
import TapeBytes
import TapeExchange
@testable import TapeRecorder
import TapeTestSupport
import Testing

/// The effect of a long search on its exchange, and on all others.
@Suite struct PostponedSearchTests {
    private static let secret = "kT7-pQ2xV9mZ4w"

    /// A recorder's worker driven by hand, and the search thread, which runs on demand.
    private final class Bench {
        let folder: TemporaryFolder
        let file: RecordingFile
        let queue = RecorderQueue { _ in }
        let status = Guarded(RecorderStatus())
        let worker: RecorderWorker
        let drains = Guarded(0)
        let threads = Guarded<[@Sendable () -> Void]>([])

        /// - Parameter step: the nanoseconds by which each reading advances the clock.
        init(hasThreads: Bool = true, step: UInt64 = 0) throws {
            self.folder = try TemporaryFolder()
            let plan = try RecordingPlan(path: self.folder.file("tape.json"), mode: .all, exists: false)
            self.file = try #require(try RecordingFile(plan, version: "1", digest: { PortableSHA256() }))
            let (threads, drains) = (self.threads, self.drains)
            let clock = Guarded<UInt64>(1_000_000_000_000)
            let options = RecorderWorker.Options(
                startSearch: { run in
                    threads.withLock { if hasThreads { $0.append(run) } }
                    return hasThreads
                },
                clock: {
                    clock.withLock { clock in
                        clock += step
                        return clock
                    }
                })
            self.worker = RecorderWorker(
                file: self.file, queue: self.queue, status: self.status,
                drained: Guarded { drains.withLock { $0 += 1 } }, options: options, notify: { _ in })
        }

        @discardableResult func put(_ exchanges: TapedExchange...) -> Bool {
            var isFull = false
            for exchange in exchanges { isFull = self.queue.put(.exchange(exchange, stored: nil), now: 1_000_000_000_000) }
            return isFull
        }

        @discardableResult func turn() -> Bool { self.worker.turn() }

        /// Runs all work of the other thread.
        func search() {
            for run in self.threads.withLock({ threads in
                defer { threads = [] }
                return threads
            }) { run() }
        }

        /// Runs the work of all threads except the one that started first, which searches to the end.
        func tries() {
            for run in self.threads.withLock({ threads in
                defer { threads = Array(threads.prefix(1)) }
                return threads.dropFirst()
            }) { run() }
        }

        func close() throws -> [Interaction] {
            self.queue.close()
            while self.turn() { self.search() }
            self.worker.end()
            let path = try self.file.close(keepsOld: false, hasUndecoded: self.status.withLock { $0.undecoded } > 0) { _, _ in }
            #expect(self.file.leaks.isEmpty)
            return try RecordedExchanges.read(path)
        }

        var inFile: [Int] { get throws { try RecordedExchanges.read(self.folder.file("tape.json")).map(\.id) } }

        /// Whether a secret is in the cassette or in one of its files, or within a coding.
        func holds(_ secret: String) throws -> Bool {
            let vault = SecretVault()
            _ = vault.placeholder(for: Array(secret.utf8), kind: "token")
            return try !CassetteLeakScan(path: self.folder.file("tape.json"), vault: vault, digest: { PortableSHA256() }).leaks().isEmpty
        }
    }

    /// A few kilobytes that contain megabytes of spaces, and then some words.
    private static func bomb(_ id: Int, _ words: String = "", size: Int = 2 << 20) throws -> TapedExchange {
        let content = [UInt8](repeating: 0x20, count: size) + Array(words.utf8)
        let wire = try #require(content.withUnsafeBytes { Deflater.encode($0, DeflateParameters(level: 6), format: .gzip) })
        return TapedExchanges.exchange(id, fields: ["Content-Type: text/plain", "Content-Encoding: gzip"], body: wire)
    }

    private static func ordinary(_ id: Int) throws -> TapedExchange {
        var generator = SeededGenerator(seed: UInt64(id))
        let words = (0..<20_000).map { _ in "word\(UInt16.random(in: 0..<500, using: &generator))" }.joined(separator: " ")
        let wire = try #require(Array(words.utf8).withUnsafeBytes { Deflater.encode($0, DeflateParameters(level: 6), format: .gzip) })
        return TapedExchanges.exchange(id, fields: ["Content-Type: text/plain", "Content-Encoding: gzip"], body: wire)
    }

    @Test func othersAreWrittenWhileABombIsSearchedAndItsSecretIsTakenOut() throws {
        let bench = try Bench()
        bench.put(try Self.bomb(1, "{\"access_token\": \"\(Self.secret)\"}"), TapedExchanges.simple(2))
        bench.turn()
        bench.put(TapedExchanges.simple(3))
        bench.turn()
        #expect(try bench.inFile == [2, 3])
        #expect(try !bench.folder.names().contains("tape.bodies"), "nothing of the bomb is on the disk")
        bench.search()
        bench.turn()
        #expect(try bench.inFile == [2, 3, 1])
        let interactions = try bench.close()
        #expect(interactions.map(\.id) == [1, 2, 3])
        let body = try #require(interactions[0].response?.body)
        let wire = try BodyReader(cassettePath: bench.folder.file("tape.json")).wireBytes(of: body, digest: { PortableSHA256() }).bytes
        // Denser than any other code inflates.
        let chain = try #require(DecoderChain([.gzip], limits: InflateLimits(ratio: .max)))
        var content: [UInt8] = []
        _ = try wire.withUnsafeBytes { try chain.push($0) { content.append(contentsOf: $0) } }
        let words = "{\"access_token\": \"{{access_token:1}}\"}"
        #expect(content.count == 2 << 20 + words.utf8.count)
        #expect(String(decoding: content.suffix(words.utf8.count), as: UTF8.self) == words)
    }

    @Test func denseOrLongBodyIsPostponedAndOrdinaryOneIsNot() throws {
        let bench = try Bench()
        var generator = SeededGenerator(seed: 3)
        let words = (0..<60_000).map { _ in "word\(UInt16.random(in: 0..<500, using: &generator))" }.joined(separator: " ")
        let wire = try #require(Array(words.utf8).withUnsafeBytes { Deflater.encode($0, DeflateParameters(level: 6), format: .gzip) })
        let coded = ["Content-Type: text/plain", "Content-Encoding: gzip"]
        bench.put(TapedExchanges.exchange(1, fields: coded, body: wire))
        bench.put(try Self.bomb(2, size: 1 << 20), try Self.bomb(3, size: 1 << 20 + 1))
        // In a file, since it is too long for memory: five mebibytes of text without a coding.
        let block = [UInt8](repeating: 0x61, count: 1 << 20)
        for _ in 0..<5 { _ = bench.queue.put(.block(exchange: 4, side: .response, bytes: block), now: 0) }
        bench.put(TapedExchanges.exchange(4, fields: ["Content-Type: text/plain"], body: [], isSpilled: true, size: 5 << 20))
        bench.turn()
        #expect(try bench.inFile == [1, 2])
        bench.search()
        bench.turn()
        #expect(try bench.inFile == [1, 2, 3, 4])
    }

    /// A few hundred kilobytes that take long to search, without a coding.
    struct Dense: Sendable, CustomTestStringConvertible {
        var name: String
        var type: String
        var body: [UInt8]

        var testDescription: String { self.name }

        private init(_ name: String, type: String = "text/plain", _ body: [UInt8]) {
            (self.name, self.type, self.body) = (name, type, body)
        }

        private init(_ name: String, type: String = "text/plain", count: Int = 5000, _ piece: (String) -> String) {
            let text = (0..<count).map { piece("hunter2-of-\($0 + 100_000)") }.joined()
            self.init(name, type: type, Array(text.utf8))
        }

        private static func frame(_ bytes: [UInt8]) -> [UInt8] { [0, 0, 0, UInt8(bytes.count >> 8), UInt8(bytes.count & 255)] + bytes }

        static let all = [
            Dense("passwords") { "password=\($0) " },
            Dense("JSON in strings of JSON", type: "application/json") { "{\"a\":\"{\\\"password\\\":\\\"\($0)\\\"}\"}\n" },
            Dense("one secret again and again", count: 20_000) { _ in "password=hunter2-of-the-test " },
            Dense("flags", count: 70_000) { _ in "curl -u a:b -p " },
            Dense("a form", type: "application/x-www-form-urlencoded", count: 140_000) { _ in "a=1&" },
            Dense(
                "parts", type: "multipart/form-data; boundary=b",
                Array(
                    ((0..<9000).map { "--b\r\nContent-Disposition: form-data; name=\"a\($0)\"\r\n\r\nx\r\n" }.joined() + "--b--\r\n").utf8)),
            Dense("empty messages", type: "application/grpc", (0..<20_000).flatMap { _ in Self.frame([]) }),
            Dense(
                "strings of MessagePack", type: "application/msgpack",
                [0xDC, 0x7F, 0xFF] + (0..<0x7FFF).flatMap { _ in [0xA2, 0x61, 0x62] as [UInt8] }),
        ]
    }

    @Test(arguments: Dense.all) func bodyFullOfCandidatesKeepsNoOtherExchangeWaiting(_ dense: Dense) throws {
        let bench = try Bench()
        bench.put(TapedExchanges.exchange(1, fields: ["Content-Type: \(dense.type)"], body: dense.body), TapedExchanges.simple(2))
        bench.turn()
        #expect(try bench.inFile == [2])
    }

    @Test func bodyFullOfSecretsIsRedactedBeforeItIsWritten() throws {
        let bench = try Bench()
        let words = (0..<5000).map { "password=hunter2-of-\($0) " }.joined()
        bench.put(TapedExchanges.simple(1, body: words), TapedExchanges.simple(2))
        bench.turn()
        #expect(try bench.inFile == [2])
        #expect(try bench.close().map(\.id) == [1, 2])
        #expect(try !String(decoding: bench.folder.read("tape.json"), as: UTF8.self).contains("hunter2"))
    }

    @Test func aLongBodyWithFewPlacesIsSearchedAtOnce() throws {
        let bench = try Bench()
        var generator = SeededGenerator(seed: 5)
        let rows = (0..<20_000).map { "{\"id\":\($0),\"name\":\"word\(UInt16.random(in: 0..<500, using: &generator))\",\"isOpen\":true}" }
        let body = Array("{\"password\":\"hunter2-of-the-test\",\"rows\":[\(rows.joined(separator: ","))]}".utf8)
        bench.put(TapedExchanges.exchange(1, fields: ["Content-Type: application/json"], body: body), TapedExchanges.simple(2))
        bench.turn()
        #expect(try bench.inFile == [1, 2])
        #expect(try !bench.holds("hunter2-of-the-test"))
    }

    /// A gzip stream with megabytes of zeros after its end, compressed again with gzip: the final result is short.
    @Test func intermediateResultOfTwoCodingsCountsToo() throws {
        let inner = try #require(Array("hello".utf8).withUnsafeBytes { Deflater.encode($0, DeflateParameters(level: 6), format: .gzip) })
        let padded = inner + [UInt8](repeating: 0, count: 2 << 20)
        let wire = try #require(padded.withUnsafeBytes { Deflater.encode($0, DeflateParameters(level: 6), format: .gzip) })
        let bench = try Bench()
        bench.put(TapedExchanges.exchange(1, fields: ["Content-Type: text/plain", "Content-Encoding: gzip, gzip"], body: wire))
        bench.turn()
        #expect(try bench.inFile.isEmpty)
        #expect(try bench.close().map(\.id) == [1])
    }

    @Test func secretLearnedDuringASearchIsRedactedAtTheClose() throws {
        let bench = try Bench()
        bench.put(try Self.bomb(1, "is \(Self.secret) there?"))
        bench.turn()
        bench.search()
        // Already searched, but not yet in the file.
        bench.put(TapedExchanges.exchange(2, fields: ["X-Api-Key: \(Self.secret)"], body: []))
        bench.turn()
        bench.put(TapedExchanges.simple(3))
        bench.turn()
        let interactions = try bench.close()
        #expect(interactions.map(\.id) == [1, 2, 3])
        #expect(try !bench.holds(Self.secret))
    }

    @Test func secretFoundByASearchIsRedactedInExchangesWrittenMeanwhile() throws {
        let bench = try Bench()
        bench.put(try Self.bomb(1, "{\"access_token\": \"\(Self.secret)\"}"))
        bench.put(TapedExchanges.simple(2, body: "is \(Self.secret) there?"))
        bench.turn()
        bench.search()
        bench.turn()
        _ = try bench.close()
        #expect(try !bench.holds(Self.secret))
    }

    @Test func onlyTooManySearchesAreHeldUpAndTheyDrain() throws {
        let bench = try Bench()
        let bomb = try Self.bomb(1)
        for _ in 1..<PostponedSearch.Kind.whole.limit {
            #expect(!bench.put(bomb))
            bench.turn()
        }
        #expect(!bench.queue.isFull)
        bench.put(bomb)
        bench.turn()
        #expect(bench.put(TapedExchanges.simple(2)), "one more is too many")
        bench.turn()
        #expect(bench.queue.isFull && bench.drains.withLock { $0 } == 0)
        #expect(bench.status.withLock { $0.recorded } == 1, "what is in the queue is written all the same")
        bench.search()
        bench.turn()
        #expect(!bench.queue.isFull && bench.drains.withLock { $0 } == 1)
        #expect(bench.status.withLock { $0.recorded } == PostponedSearch.Kind.whole.limit + 1)
    }

    /// The bombs arrive faster than a thread tries them.
    @Test func tooManyTriesAreHeldUpToo() throws {
        let bench = try Bench(step: 20_000_000)
        let bomb = try Self.bomb(1)
        var count = 0
        while count < 200, !bench.put(bomb) {
            bench.turn()
            count += 1
        }
        // The recorder's thread tries five before its time is spent; eight wait for another thread.
        #expect(count <= 13)
    }

    @Test func triesAndSearchesShareALimit() throws {
        let bench = try Bench(step: 20_000_000)
        let bomb = try Self.bomb(1)
        var count = 0
        while count < 200, !bench.put(bomb) {
            bench.turn()
            count += 1
            // The first ones are all tried, but not searched.
            if count <= 60 { bench.tries() }
        }
        #expect(count == PostponedSearch.Kind.whole.limit)
        #expect(try bench.inFile.isEmpty)
    }

    /// Each reading of the clock takes as long as a try, so that there is time for three.
    @Test func aTryOfADenseBodyCountsEvenIfItCompletes() throws {
        let bench = try Bench(step: 20_000_000)
        for id in 1...10 { bench.put(try Self.bomb(id, "\(id)", size: 1 << 20 - 2)) }
        bench.turn()
        #expect(try bench.inFile.count < 5)
        bench.search()
        bench.turn()
        #expect(try bench.inFile.count == 10)
    }

    @Test func aTryOfAnOrdinaryBodyIsFree() throws {
        let bench = try Bench(step: 20_000_000)
        for id in 1...10 { bench.put(try Self.ordinary(id)) }
        bench.turn()
        #expect(try bench.inFile.count == 10)
    }

    @Test func oneOriginsBombsDoNotKeepAnOthersAnswerWaiting() throws {
        let folder = try TemporaryFolder()
        let redaction = ExchangeRedaction(
            redactor: Redactor(), store: try BodyStore(cassettePath: folder.file("tape.json")), digest: { PortableSHA256() })
        let threads = Guarded<[@Sendable () -> Void]>([])
        let search = PostponedSearch(
            .attempt, redaction,
            start: { run in
                threads.withLock { $0.append(run) }
                return true
            }, wake: {})
        for id in 1...6 {
            let exchange = id < 6 ? try Self.bomb(id) : try Self.ordinary(id)
            var interaction = exchange.interaction
            interaction.connection = ConnectionInfo(id: id, remote: id < 6 ? "10.0.0.1:80" : "10.0.0.2:80", isReused: false)
            let body = try exchange.responseBody.map { try CapturedBody($0, nil) }
            let captured = CapturedExchange(interaction: interaction, request: nil, response: body, notes: (nil, nil))
            #expect(search.put(PostponedSearch.Job(.exchange(captured), weight: exchange.weight)))
        }
        for run in threads.withLock({ $0 }) { run() }
        #expect(
            search.take().compactMap { if case .exchange(let exchange) = $0.subject { exchange.interaction.id } else { nil } } == [
                1, 6, 2, 3, 4, 5,
            ])
    }

    /// Each reading of the clock takes as long as a try. After some tries, no coded body is tried while others wait, and ordinary exchanges
    /// are written before any of the bombs.
    @Test func manyBombsInARowAreNotEvenTriedWhereOthersWait() throws {
        let bench = try Bench(step: 20_000_000)
        for id in 1...6 { bench.put(try Self.bomb(id)) }
        bench.put(try Self.ordinary(7))
        bench.put(TapedExchanges.simple(8))
        bench.turn()
        #expect(try bench.inFile == [8])
        let threads = bench.threads.withLock { $0 }
        try #require(threads.count == 2, "one for bombs, and one that finds out what they are")
        threads[1]()
        bench.turn()
        #expect(try bench.inFile == [8, 7])
        #expect(try bench.close().map(\.id) == Array(1...8))
    }

    @Test func withoutAThreadItIsSearchedInItsPlace() throws {
        let bench = try Bench(hasThreads: false)
        bench.put(try Self.bomb(1, "{\"access_token\": \"\(Self.secret)\"}"), TapedExchanges.simple(2))
        bench.turn()
        #expect(try bench.inFile == [1, 2])
        #expect(try !bench.holds(Self.secret))
    }

    @Test func theCloseWaitsForAllOfThem() throws {
        let folder = try TemporaryFolder()
        let recorder = try #require(try Recorder(RecordingPlan(path: folder.file("tape.json"), mode: .all, exists: false), version: "1"))
        let stored = Guarded(0)
        for id in 1...5 {
            _ = recorder.put(
                .exchange(
                    try Self.bomb(id, "{\"access_token\": \"\(Self.secret)\(id)\"}"),
                    stored: { if case .success = $0 { stored.withLock { $0 += 1 } } }))
        }
        _ = try recorder.close(keepsOld: false)
        #expect(recorder.currentStatus.recorded == 5 && recorder.currentStatus.lost == 0)
        #expect(stored.withLock { $0 } == 5)
        #expect(try RecordedExchanges.read(folder.file("tape.json")).map(\.id) == [1, 2, 3, 4, 5])
    }

    /// The close has no more time: the exchange is recorded, its heads are searched, and the report names it.
    @Test func exchangeWithoutTimeForASearchIsRecordedAndNamed() throws {
        let bench = try Bench()
        let bomb = try Self.bomb(1, "{\"access_token\": \"\(Self.secret)\"}")
        var interaction = bomb.interaction
        interaction.request.headers.append(name: "Authorization", value: "Bearer \(Self.secret)")
        bench.put(TapedExchange(interaction: interaction, responseBody: bomb.responseBody), TapedExchanges.simple(2))
        bench.turn()
        for search in bench.worker.searches { search.giveUp() }
        let haste = SearchBudget()
        haste.cancel()
        bench.queue.close()
        while bench.turn() { bench.search() }
        bench.worker.end()
        let path = try bench.file.close(
            keepsOld: false, hasUndecoded: bench.status.withLock { $0.undecoded } > 0, haste: haste
        ) { _, _ in }
        let interactions = try RecordedExchanges.read(path)
        #expect(interactions.map(\.id) == [1, 2] && bench.status.withLock { $0.lost } == 0)
        #expect(interactions[0].request.headers.first("authorization")?.hasPrefix("Bearer {{") == true)
        #expect(interactions[0].response?.body?.note?.contains(UnsearchedNote.text) == true)
        #expect(bench.status.withLock { $0.unsearchedExchanges.first?.id } == 1)
        #expect(try bench.holds(Self.secret) == false, "a body that is named as unsearched is not decoded for the check")

        let outcome = try CassetteRedaction.redact(path, rules: .standard, version: "1", dryRun: false)
        #expect(outcome.unsearched.count == 0 && outcome.leaks.isEmpty)
        let redacted = try RecordedExchanges.read(path)
        #expect(redacted[0].response?.body?.note?.contains(UnsearchedNote.text) != true)
        #expect(try !bench.holds(Self.secret))
    }

    @Test func aCloseThatIsHastenedLosesNothing() throws {
        let folder = try TemporaryFolder()
        let recorder = try #require(try Recorder(RecordingPlan(path: folder.file("tape.json"), mode: .all, exists: false), version: "1"))
        let stored = Guarded(0)
        for id in 1...8 {
            _ = recorder.put(.exchange(try Self.bomb(id), stored: { if case .success = $0 { stored.withLock { $0 += 1 } } }))
        }
        recorder.hasten()
        _ = try recorder.close(keepsOld: false)
        #expect(recorder.currentStatus.recorded == 8 && recorder.currentStatus.lost == 0)
        #expect(stored.withLock { $0 } == 8)
        #expect(try RecordedExchanges.read(folder.file("tape.json")).map(\.id) == Array(1...8))
    }

    @Test func cancelledExchangeIsNotSearched() throws {
        let bench = try Bench()
        bench.put(try Self.bomb(1, "{\"access_token\": \"\(Self.secret)\"}"), try Self.bomb(2))
        bench.turn()
        for search in bench.worker.searches { search.cancel() }
        let known = try #require(bench.file.redactor).vault.count
        bench.search()
        bench.turn()
        #expect(bench.file.redactor?.vault.count == known, "nothing was learned")
        #expect(try bench.inFile.isEmpty)
        #expect(bench.status.withLock { $0.lost } == 2)
        #expect(bench.status.withLock { $0.firstProblem } == nil)
    }

    /// Secrets that one thread learns do not start another round of the other.
    @Test func twoThreadsCountTheirLearnedSecretsSeparately() {
        let vault = SecretVault()
        let other = SecretVault(sharing: vault)
        _ = other.placeholder(for: Array(Self.secret.utf8), kind: "token")
        #expect(vault.generation == 1 && other.generation == 1)
        #expect(vault.learned == 0 && other.learned == 1)
        #expect(vault.placeholder(for: Array(Self.secret.utf8), kind: "token").description == "{{token:1}}")
        #expect(vault.learned == 0)
    }
}
