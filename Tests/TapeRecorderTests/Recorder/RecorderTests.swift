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

@Suite struct RecorderTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        self.folder = try TemporaryFolder()
        self.path = self.folder.file("tape.json")
    }

    private func open(_ mode: RecordMode) throws -> Recorder {
        let plan = try RecordingPlan(path: self.path, mode: mode, exists: CassettePlace.exists(self.path))
        return try #require(try Recorder(plan, version: "1.2.3"))
    }

    private func close(_ recorder: Recorder, keepsOld: Bool = false) throws -> String { try recorder.close(keepsOld: keepsOld) }

    private func put(_ recorder: Recorder, _ exchange: TapedExchange) { _ = recorder.put(.exchange(exchange, stored: nil)) }

    @Test func filesAreNamedByTheDigestThatIsGiven() throws {
        struct Constant: ContentDigest {
            mutating func update(_ bytes: UnsafeRawBufferPointer) {}
            mutating func finalize() -> [UInt8] { [UInt8](repeating: 0xab, count: 32) }
        }
        let plan = try RecordingPlan(path: self.path, mode: .all, exists: false)
        let recorder = try #require(try Recorder(plan, version: "1", digest: { Constant() }))
        let image = [UInt8](repeating: 0xff, count: 100_000)
        self.put(recorder, TapedExchanges.exchange(1, fields: ["Content-Type: image/png"], body: image))
        _ = recorder.put(.block(exchange: 2, side: .response, bytes: image))
        self.put(recorder, TapedExchanges.exchange(2, fields: ["Content-Type: image/png"], body: [1], isSpilled: true, size: 100_001))
        _ = try self.close(recorder)
        let sidecars = try RecordedExchanges.read(self.path).flatMap { $0.response?.body?.content.sidecars ?? [] }
        #expect(sidecars.map(\.sha256) == [String](repeating: String(repeating: "ab", count: 32), count: 2))
    }

    #if os(Linux)
    /// Blocks are in an unnamed file, which exists as long as it is open.
    @Test func nothingIsLeftOfAnExchangeThatIsDropped() throws {
        let recorder = try self.open(.all)
        for _ in 0..<3 { _ = recorder.put(.block(exchange: 1, side: .request, bytes: [UInt8](repeating: 1, count: 100_000))) }
        let kept = Gate("the exchange after the blocks is on the disk")
        _ = recorder.put(.exchange(TapedExchanges.simple(2), stored: { _ in kept.open() }))
        try kept.wait()
        func unnamed() -> Int {
            let folder = (self.path as NSString).deletingLastPathComponent
            let links = ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []).compactMap {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
            }
            return links.count { $0.hasPrefix(folder) && $0.hasSuffix("(deleted)") }
        }
        #expect(unnamed() == 1)
        _ = recorder.put(.dropped(exchange: 1))
        let dropped = Gate("the exchange after the drop is on the disk")
        _ = recorder.put(.exchange(TapedExchanges.simple(3), stored: { _ in dropped.open() }))
        try dropped.wait()
        #expect(unnamed() == 0)
        _ = try self.close(recorder)
        #expect(recorder.currentStatus.recorded == 2)
    }
    #endif

    @Test func exchangesAreInOrderOfTheirStart() throws {
        let recorder = try self.open(.all)
        for id in [3, 1, 4, 2] { self.put(recorder, TapedExchanges.simple(id)) }
        #expect(try self.close(recorder) == self.path)
        let interactions = try RecordedExchanges.read(self.path)
        #expect(interactions.map(\.request.url) == ["http://h/1", "http://h/2", "http://h/3", "http://h/4"])
        #expect(interactions.map(\.id) == [1, 2, 3, 4])
        #expect(recorder.currentStatus.recorded == 4)
    }

    @Test func storedExchangeIsInTheFile() throws {
        let recorder = try self.open(.all)
        let stored = Gate("the exchange is on the disk")
        _ = recorder.put(.exchange(TapedExchanges.simple(1), stored: { _ in stored.open() }))
        try stored.wait()
        // Read while the recorder has it open, as after a crash.
        #expect(try RecordedExchanges.read(self.path).map(\.request.url) == ["http://h/1"])
        _ = try self.close(recorder)
    }

    @Test func gzipBodiesThatThereWasNoTimeForAreDevelopedAtTheClose() throws {
        let recorder = try self.open(.all)
        var generator = SeededGenerator(seed: 7)
        var bodies: [[UInt8]] = []
        for id in 1...60 {
            let words = (0..<4000).map { _ in "word\(UInt16.random(in: 0..<500, using: &generator))" }.joined(separator: " ")
            let body = try #require(
                Array(words.utf8).withUnsafeBytes { Deflater.encode($0, DeflateParameters(level: 1 + id % 9), format: .gzip) })
            bodies.append(body)
            self.put(recorder, TapedExchanges.exchange(id, fields: ["Content-Type: text/plain", "Content-Encoding: gzip"], body: body))
        }
        let stored = Gate("all are in the file")
        _ = recorder.put(.exchange(TapedExchanges.simple(61), stored: { _ in stored.open() }))
        try stored.wait()
        #expect(recorder.currentStatus.undecoded > 0, "the budget was not used up")
        _ = try self.close(recorder)
        let interactions = try RecordedExchanges.read(self.path)
        #expect(interactions.count == 61)
        #expect(interactions.allSatisfy { !$0.isUndecoded })
        #expect(try !self.folder.names(in: "tape.bodies").contains("undeveloped.raw"))
        let reader = BodyReader(cassettePath: self.path)
        for (interaction, body) in zip(interactions, bodies) {
            let taken = try #require(interaction.response?.body)
            #expect(taken.codings.count == 1)
            #expect(try reader.wireBytes(of: taken, digest: { PortableSHA256() }).bytes == body)
        }
    }

    @Test func aFullQueueSaysSoAndTellsWhenItHasDrained() throws {
        let recorder = try self.open(.all)
        let drained = Gate("the queue has drained")
        recorder.onDrain { drained.open() }
        var isFull = false
        var blocks = 0
        while !isFull, blocks < 10_000 {
            isFull = recorder.put(.block(exchange: 1, side: .response, bytes: [UInt8](repeating: 1, count: 1 << 20)))
            blocks += 1
        }
        #expect(isFull)
        try drained.wait()
        self.put(
            recorder,
            TapedExchanges.exchange(1, fields: ["Content-Type: image/png"], body: [], isSpilled: true, size: blocks << 20))
        _ = try self.close(recorder)
        guard case .file(let sidecar)? = try RecordedExchanges.read(self.path).first?.response?.body?.content else {
            throw TestProblem("no sidecar")
        }
        #expect(sidecar.size == blocks << 20)
    }

    @Test func numbersContinueAfterThoseOfTheCassette() throws {
        let first = try self.open(.all)
        #expect(first.nextID() == 1)
        self.put(first, TapedExchanges.simple(1))
        _ = try self.close(first)
        let second = try self.open(.newEpisodes)
        #expect(second.nextID() == 2)
        self.put(second, TapedExchanges.simple(2))
        _ = try self.close(second)
        #expect(try RecordedExchanges.read(self.path).map(\.id) == [1, 2])
    }

    @Test func aNewRecordingReplacesTheOldOneOnlyOnRequest() throws {
        let first = try self.open(.all)
        self.put(first, TapedExchanges.simple(1))
        _ = try self.close(first)
        let old = try self.folder.read("tape.json")

        let kept = try self.open(.all)
        self.put(kept, TapedExchanges.simple(2))
        let beside = try self.close(kept, keepsOld: true)
        #expect(beside == self.folder.file("tape.new.json"))
        #expect(try self.folder.read("tape.json") == old)
        #expect(try RecordedExchanges.read(beside).map(\.request.url) == ["http://h/2"])

        let replacing = try self.open(.all)
        self.put(replacing, TapedExchanges.simple(3))
        #expect(try self.close(replacing) == self.path)
        #expect(try RecordedExchanges.read(self.path).map(\.request.url) == ["http://h/3"])
    }

    /// The folder of bodies must not be a link.
    @Test(arguments: [false, true]) func aRecordingThatCannotStartLeavesNoFile(isReplacing: Bool) throws {
        if isReplacing {
            let recorder = try self.open(.all)
            self.put(recorder, TapedExchanges.simple(1))
            _ = try self.close(recorder)
        }
        let target = try TemporaryFolder()
        try FileManager.default.createSymbolicLink(atPath: self.folder.file("tape.bodies"), withDestinationPath: target.path)
        let names = try self.folder.names()
        #expect(throws: CassetteError.self) { try self.open(.all) }
        #expect(try self.folder.names().sorted() == names.sorted())
    }

    /// As a checkout, a synchronization or a second run does.
    @Test(arguments: ["file", "folder"], [false, true]) func aFileInTheCassettesPlaceIsNotReportedAsTheRecording(
        replaced: String, isReplacing: Bool
    ) throws {
        let path = self.folder.file("in/tape.json")
        try FileManager.default.createDirectory(atPath: self.folder.file("in"), withIntermediateDirectories: true)
        if isReplacing { try RecordedExchanges.write([.sample(1)], to: path) }
        let plan = try RecordingPlan(path: path, mode: .all, exists: isReplacing)
        let recorder = try #require(try Recorder(plan, version: "1"))
        let stored = Gate("the exchange is on the disk")
        _ = recorder.put(.exchange(TapedExchanges.simple(2), stored: { _ in stored.open() }))
        try stored.wait()
        let names = try self.folder.names(in: "in").filter { $0.hasSuffix(".json") }
        if replaced == "folder" {
            try FileManager.default.moveItem(atPath: self.folder.file("in"), toPath: self.folder.file("moved"))
        } else {
            for name in names { try FileManager.default.removeItem(atPath: self.folder.file("in/\(name)")) }
        }
        for name in names { try self.folder.write("{}".utf8, to: "in/\(name)") }
        let error = #expect(throws: CassetteError.self) { try self.close(recorder) }
        #expect(error?.message.contains("another file than the one that was recorded") == true, "\(error?.message ?? "")")
        for name in names { #expect(try self.folder.read("in/\(name)") == Array("{}".utf8)) }
    }

    @Test func nothingIsOpenedWhereNothingIsRecorded() throws {
        let plan = try RecordingPlan(path: self.path, mode: .passthrough, exists: false)
        #expect(try Recorder(plan, version: "1") == nil)
        #expect(try self.folder.names().isEmpty)
    }

    // MARK: Secrets

    @Test func laterSecretIsRedactedInEarlierExchangesAndTheirFiles() throws {
        let secret = "kT7-pQ2xV9mZ4w"
        let recorder = try self.open(.all)
        let filler = [UInt8](repeating: 0xff, count: 100_000)
        self.put(recorder, TapedExchanges.exchange(1, fields: ["Content-Type: image/png"], body: filler + Array(secret.utf8)))
        self.put(recorder, TapedExchanges.simple(2, body: "is \(secret) there?"))
        self.put(recorder, TapedExchanges.exchange(3, fields: ["X-Api-Key: \(secret)"], body: []))
        _ = try self.close(recorder)
        #expect(recorder.currentStatus.leaks.isEmpty)
        let interactions = try RecordedExchanges.read(self.path)
        #expect(interactions[1].response?.body?.content == .text(Array("is {{api-key:1}} there?".utf8)))
        #expect(interactions[2].response?.headers == HeaderFields(["X-Api-Key: {{api-key:1}}"]))
        let names = try self.folder.names(in: "tape.bodies")
        #expect(names.count == 1)
        // A binary file keeps its length.
        let redacted = filler + Array("{{api-key:1}}*".utf8)
        for name in names { #expect(try Array(self.folder.read("tape.bodies/\(name)")) == redacted) }
    }

    /// HEAD has the length and the checksums of GET (RFC 9110, 9.3.2), in either order.
    @Test(arguments: [false, true]) func anEarlierHeadFitsTheRedactedBody(isKnown: Bool) throws {
        let body = Array(#"{"password":"hunter2hunter2"}"#.utf8)
        let fields = [
            "Content-Type: application/json", "Content-Length: \(body.count)", "ETag: \"\(Hex.encode(BodyChecksum.md5.value(of: body)))\"",
        ]
        let recorder = try self.open(.all)
        // The first exchange reveals the secret to all others, so that nothing is learned later.
        if isKnown { self.put(recorder, TapedExchanges.exchange(9, fields: ["Content-Type: application/json"], body: body + [10])) }
        for id in 1...3 {
            let got = TapedExchanges.exchange(id, fields: fields, body: body)
            var interaction = got.interaction
            interaction.request.url = "http://h/a"
            if id != 2 { interaction.request.method = "HEAD" }
            let exchange = TapedExchange(interaction: interaction, responseBody: id == 2 ? got.responseBody : nil)
            self.put(recorder, exchange)
        }
        self.put(recorder, TapedExchanges.exchange(4, fields: fields, body: []))
        _ = try self.close(recorder)
        let heads = try RecordedExchanges.read(self.path).filter { $0.id < 9 }.map { $0.response?.headers }
        #expect(heads[1]?.first("content-length") == "29" && heads[1]?.first("etag") != HeaderFields(fields).first("etag"))
        #expect(heads[0] == heads[1] && heads[2] == heads[1])
        #expect(heads[3]?.first("etag") == heads[1]?.first("etag"), "a checksum is one wherever it is")
    }

    @Test func knownSecretIsRedactedAtTheFirstWrite() throws {
        let secret = "kT7-pQ2xV9mZ4w"
        let recorder = try self.open(.all)
        self.put(recorder, TapedExchanges.exchange(1, fields: ["X-Api-Key: \(secret)"], body: []))
        let stored = Gate("the exchange is on the disk")
        _ = recorder.put(.exchange(TapedExchanges.simple(2, body: "is \(secret) there?"), stored: { _ in stored.open() }))
        try stored.wait()
        // As after a crash: the written exchanges are already redacted.
        let written = String(decoding: try self.folder.read("tape.json"), as: UTF8.self)
        #expect(written.contains("is {{api-key:1}} there?") && !written.contains(secret))
        _ = try self.close(recorder)
        #expect(String(decoding: try self.folder.read("tape.json"), as: UTF8.self) == written)
    }

    @Test func withoutRedactionSecretsStay() throws {
        let plan = try RecordingPlan(path: self.path, mode: .all, exists: false)
        let recorder = try #require(try Recorder(plan, version: "1.2.3", redaction: nil))
        self.put(recorder, TapedExchanges.exchange(1, fields: ["X-Api-Key: kT7-pQ2xV9mZ4w"], body: []))
        _ = try self.close(recorder)
        let text = String(decoding: try self.folder.read("tape.json"), as: UTF8.self)
        #expect(text.contains("X-Api-Key: kT7-pQ2xV9mZ4w") && !text.contains("redaction"))
    }

    @Test func moreExchangesAreRedactedByTheRulesInTheFileAndNumbersCountOn() throws {
        let rules = try RedactionRules(rules: ["header:x-mail"])
        let plan = try RecordingPlan(path: self.path, mode: .all, exists: false)
        let first = try #require(try Recorder(plan, version: "1.2.3", redaction: rules))
        self.put(first, TapedExchanges.exchange(1, fields: ["X-Mail: ann@example.com"], body: []))
        _ = try self.close(first)
        let second = try self.open(.newEpisodes)
        self.put(second, TapedExchanges.exchange(2, fields: ["X-Mail: bob@example.com"], body: []))
        _ = try self.close(second)
        let fields = try RecordedExchanges.read(self.path).map { $0.response?.headers }
        #expect(fields == [HeaderFields(["X-Mail: {{x-mail:1}}"]), HeaderFields(["X-Mail: {{x-mail:2}}"])])
    }

    @Test func anExchangeAfterTheCloseIsCountedAndNotAwaited() throws {
        let recorder = try self.open(.all)
        self.put(recorder, TapedExchanges.simple(1))
        _ = try self.close(recorder)
        let told = Guarded<Result<Void, RecorderProblem>?>(nil)
        #expect(!recorder.put(.exchange(TapedExchanges.simple(2), stored: { result in told.withLock { $0 = result } })))
        guard case .failure(let problem) = told.withLock({ $0 }) else { throw TestProblem("it counts as stored") }
        #expect(problem.code == .ended)
        #expect(recorder.currentStatus.recorded == 1)
        #expect(recorder.currentStatus.lost == 1)
    }
}

@Suite struct MonotonicClockTests {
    @Test func itNeverGoesBack() {
        let instants = (0..<10_000).map { _ in MonotonicClock.now }
        #expect(instants == instants.sorted())
        #expect(instants.first != instants.last, "it stands still")
    }

    @Test func itCountsNanoseconds() {
        let clock = ContinuousClock()
        var inner: UInt64 = 0
        let outer = clock.measure {
            let start = MonotonicClock.now
            while MonotonicClock.now - start < 2_000_000 {}
            inner = MonotonicClock.now - start
        }
        #expect(inner >= 2_000_000)
        #expect(outer >= .nanoseconds(inner), "it goes faster than time")
    }
}
