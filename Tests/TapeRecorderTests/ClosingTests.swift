import CassetteFormat
import CassetteModel
import CassetteRedaction
import CassetteStore
import Foundation
import TapeBytes
import TapeExchange
import TapeTestSupport
import Testing
@testable import TapeRecorder

/// The time between the last exchange and the end of the close.
@Suite struct ClosingTests {
    private static let secret = "kT7-pQ2xV9mZ4w"

    /// Records bodies that have yet to be decoded.
    @discardableResult private func recording(
        _ folder: TemporaryFolder, disk: DiskCalls = .system, count: Int, named name: String = "tape.json"
    ) throws -> RecordingFile {
        let plan = try RecordingPlan(path: folder.file(name), mode: .all, exists: false)
        let file = try #require(try RecordingFile(plan, version: "1", redaction: nil, digest: { PortableSHA256() }, disk: disk))
        var maker = InteractionMaker(store: file.store, digest: { PortableSHA256() })
        var writer = JSONWriter(reserving: 1024)
        for id in 1...count {
            // Too long to be inline after decoding.
            let text = Array(String(repeating: "\(id) and \(Self.secret) ", count: 8000).utf8)
            let wire = try #require(text.withUnsafeBytes { Deflater.encode($0, DeflateParameters(level: 1), format: .gzip) })
            let exchange = TapedExchanges.exchange(id, fields: ["Content-Type: text/plain", "Content-Encoding: gzip"], body: wire)
            writer.removeAll(baseDepth: 2)
            InteractionEncoder.encode(try maker.interaction(of: exchange, mayDecode: false), into: &writer)
            try file.append(writer.bytes, ends: [writer.bytes.count])
        }
        return file
    }

    @Test func bodiesAreSyncedOnceForAllBeforeTheFileTakesItsPlace() throws {
        let folder = try TemporaryFolder()
        let disk = FailingDisk()
        let file = try self.recording(folder, disk: disk.calls, count: 5)
        disk.with { $0.log = "" }
        _ = try file.close(keepsOld: false, hasUndecoded: true) { _, _ in }
        #expect(try folder.names(in: "tape.bodies").filter { $0.hasSuffix(".txt") }.count == 5)
        let log = disk.with { $0.log }
        #expect(log.components(separatedBy: "sw").count == 2, "after the file as it was, one stretch of writes: \(log)")
        #expect(log.hasSuffix("ssssss"), "the cassette and its five bodies: \(log)")
    }

    /// Whether the cassette is locked against another recorder.
    private static func isLocked(_ path: String) -> Bool {
        do {
            _ = try CassetteAppender.open(path, recorder: "another")
            return false
        } catch { return error.code == .inUse }
    }

    /// Every way to remove bodies checks the lock before each removal.
    @Test func lockIsHeldWhileUnreferencedBodiesAreRemoved() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tape.json")
        let wasLocked = Guarded<[Bool]>([])
        let disk = FailingDisk { _ in
            let isLocked = Self.isLocked(path)
            wasLocked.withLock { $0.append(isLocked) }
        }
        func removals(_ work: () throws -> Void) throws -> [Bool] {
            wasLocked.withLock { $0 = [] }
            try work()
            #expect(!Self.isLocked(path))
            return wasLocked.withLock { $0 }
        }
        let file = try self.recording(folder, disk: disk.calls, count: 2)
        let closed = try removals {
            _ = try file.close(keepsOld: false, hasUndecoded: true) { _, _ in }
        }
        #expect(closed == [true], "the spool of what was raw")
        let rules = try RedactionRules(rules: [], secrets: [SecretValue(name: "A", bytes: Array(Self.secret.utf8))])
        let redacted = try removals {
            _ = try CassetteRedaction.redact(
                path, rules: rules, version: "1", dryRun: false, digest: { PortableSHA256() }, disk: disk.calls, progress: { _, _ in })
        }
        #expect(redacted == [true, true, true], "the spool, which is not there, and two texts")
        try FileManager.default.removeItem(atPath: path)
        try self.recording(folder, count: 2)
        let decoded = try removals {
            _ = try CassetteFinisher.decode(
                path, version: "1", digest: { PortableSHA256() }, disk: disk.calls, progress: { _, _ in })
        }
        #expect(decoded == [true, true, true], "the spool, and two texts of the recording before")
        let replaced = try removals {
            let plan = try RecordingPlan(path: path, mode: .all, exists: true)
            let file = try #require(try RecordingFile(plan, version: "1", digest: { PortableSHA256() }, disk: disk.calls))
            var writer = JSONWriter(reserving: 1024)
            writer.removeAll(baseDepth: 2)
            InteractionEncoder.encode(TapedExchanges.simple(1).interaction, into: &writer)
            try file.append(writer.bytes, ends: [writer.bytes.count])
            _ = try file.close(keepsOld: false, hasUndecoded: false) { _, _ in }
        }
        #expect(replaced == [true, true, true], "the spool, which is not there, and the texts of the recording that is replaced")
    }

    @Test(arguments: [RecordMode.all, .newEpisodes])
    func aCloseWithoutRoomTellsWhereTheExchangesAre(_ mode: RecordMode) throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tape.json")
        try RecordedExchanges.write([.sample(1)], to: path)
        let old = try folder.read("tape.json")
        let disk = FailingDisk()
        let plan = try RecordingPlan(path: path, mode: mode, exists: true)
        let file = try #require(try RecordingFile(plan, version: "1", redaction: nil, digest: { PortableSHA256() }, disk: disk.calls))
        var writer = JSONWriter(reserving: 1024)
        for id in [4, 3] {
            writer.removeAll(baseDepth: 2)
            InteractionEncoder.encode(TapedExchanges.simple(id).interaction, into: &writer)
            file.noteStart(TapedExchanges.simple(id).interaction.started)
            try file.append(writer.bytes, ends: [writer.bytes.count])
        }
        disk.with { $0.writeError = ENOSPC }
        let error = #expect(throws: CassetteError.self) { try file.close(keepsOld: false, hasUndecoded: false) { _, _ in } }
        let name = mode == .all ? "tape.new.json" : "tape.json"
        let count = mode == .all ? 2 : 3
        #expect(error?.code == .noSpace)
        #expect(
            error?.message.contains("all \(count) recorded exchanges are safe in \"\(folder.file(name))\"") == true,
            "\(error?.message ?? "")")
        #expect(try RecordedExchanges.read(folder.file(name)).count == count)
        #expect(try mode == .newEpisodes || folder.read("tape.json") == old)
        // The disk has room again.
        _ = try CassetteFinisher.decode(folder.file(name), version: "1") { _, _ in }
        #expect(try RecordedExchanges.read(folder.file(name)).map(\.id) == (mode == .all ? [3, 4] : [3, 4, 1]))
    }

    /// Every command that takes the cassette's lock and succeeds.
    @Test func leftoversOfAFailedCommandAreRemovedByTheNextOne() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tape.json")
        _ = try self.recording(folder, count: 1).close(keepsOld: false, hasUndecoded: true) { _, _ in }
        let kept = try folder.names(in: "tape.bodies")
        #expect(kept.count == 1)
        let commands: [(String, () throws -> Void)] = [
            ("decode", { _ = try CassetteFinisher.decode(path, version: "1") { _, _ in } }),
            ("redact", { _ = try CassetteRedaction.redact(path, rules: .standard, version: "1", dryRun: false) }),
            (
                "record",
                {
                    let plan = try RecordingPlan(path: path, mode: .newEpisodes, exists: true)
                    let recorder = try #require(try Recorder(plan, version: "1"))
                    _ = try recorder.close(keepsOld: false)
                }
            ),
        ]
        for (name, run) in commands {
            try folder.write([1, 2], to: "tape.bodies/\(String(repeating: "0", count: 64)).bin")
            try folder.write([1, 2], to: "tape.bodies/undeveloped.raw")
            try folder.write([1, 2], to: "tape.bodies/notes.txt")
            try run()
            #expect(try folder.names(in: "tape.bodies").filter { $0 != "notes.txt" } == kept, "\(name)")
        }
    }

    @Test func aRedactionWithoutRoomLeavesNothing() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tape.json")
        _ = try self.recording(folder, count: 3).close(keepsOld: false, hasUndecoded: true) { _, _ in }
        let (old, bodies) = (try folder.read("tape.json"), try folder.names(in: "tape.bodies"))
        let disk = FailingDisk()
        disk.with { $0.syncError = ENOSPC }
        let rules = try RedactionRules(rules: [], secrets: [SecretValue(name: "A", bytes: Array(Self.secret.utf8))])
        #expect(throws: CassetteError.self) {
            try CassetteRedaction.redact(
                path, rules: rules, version: "1", dryRun: false, digest: { PortableSHA256() }, disk: disk.calls, progress: { _, _ in })
        }
        #expect(try folder.read("tape.json") == old && folder.names(in: "tape.bodies") == bodies)
    }

    @Test func discardedFilesAreRemovedBeforeTheLockIsReleased() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tape.json")
        let recorder = try #require(try Recorder(RecordingPlan(path: path, mode: .all, exists: false), version: "1"))
        _ = recorder.put(.block(exchange: 1, side: .response, bytes: [UInt8](repeating: 1, count: 100_000)))
        _ = recorder.put(
            .exchange(
                TapedExchanges.exchange(1, fields: ["Content-Type: image/png"], body: [], isSpilled: true, size: 100_000), stored: nil))
        try recorder.discard()
        #expect(try folder.names() == ["tape.bodies"] && folder.names(in: "tape.bodies").isEmpty)
    }
}
