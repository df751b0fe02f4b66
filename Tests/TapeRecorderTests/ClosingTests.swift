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

    /// A recording of two exchanges that are out of order, so that the close has to write.
    private func unsorted(
        _ path: String, _ mode: RecordMode, exists: Bool, disk: DiskCalls = .system
    ) throws -> RecordingFile {
        let plan = try RecordingPlan(path: path, mode: mode, exists: exists)
        let file = try #require(try RecordingFile(plan, version: "1", redaction: nil, digest: { PortableSHA256() }, disk: disk))
        var writer = JSONWriter(reserving: 1024)
        for id in [4, 3] {
            writer.removeAll(baseDepth: 2)
            InteractionEncoder.encode(TapedExchanges.simple(id).interaction, into: &writer)
            file.noteStart(TapedExchanges.simple(id).interaction.started)
            try file.append(writer.bytes, ends: [writer.bytes.count])
        }
        return file
    }

    @Test(arguments: [ENOSPC, EIO, EROFS], [1, 27])
    func aCloseThatFailsCountsWhatIsLostAndTellsWhereTheOthersAre(_ number: Int32, lost: Int) throws {
        for mode in [RecordMode.once, .all, .newEpisodes] {
            let folder = try TemporaryFolder()
            let path = folder.file("tape.json")
            if mode != .once { try RecordedExchanges.write([.sample(1)], to: path) }
            let disk = FailingDisk()
            let file = try self.unsorted(path, mode, exists: mode != .once, disk: disk.calls)
            disk.with { $0.writeError = number }
            let error = #expect(throws: CassetteError.self) { try file.close(keepsOld: false, hasUndecoded: false, lost: lost) { _, _ in } }
            let message = error?.message ?? ""
            let name = folder.file(mode == .all ? "tape.new.json" : "tape.json")
            let count = mode == .newEpisodes ? 3 : 2
            #expect(
                message.contains(". \(lost == 1 ? "1 exchange is" : "27 exchanges are") lost. The recording is not finished"), "\(message)")
            #expect(message.contains("all \(count) other recorded exchanges are safe in \"\(name)\""), "\(message)")
            #expect(
                message.contains("run \"wiretape decode \(name)\"\(mode == .all ? ", and rename it to \"\(path)\"" : "")."), "\(message)")
            #expect(message.contains("when there is room") == (number == ENOSPC), "\(message)")
            #expect(try RecordedExchanges.read(name).count == count)
        }
    }

    /// What else may have a cassette's name at the end.
    enum Displacement: CaseIterable, Sendable {
        case linkedBack, replaced, removed, replacedByFolder, folderLinkedBack
    }

    @Test(arguments: Displacement.allCases, [RecordMode.once, .newEpisodes])
    func aCassetteThatWasMovedIsNeitherOverwrittenNorReported(_ what: Displacement, mode: RecordMode) throws {
        let folder = try TemporaryFolder()
        let files = FileManager.default
        try files.createDirectory(atPath: folder.file("in"), withIntermediateDirectories: false)
        try files.createDirectory(atPath: folder.file("other"), withIntermediateDirectories: false)
        let (path, moved) = (folder.file("in/tape.json"), folder.file("other/moved.json"))
        if mode == .newEpisodes { try RecordedExchanges.write([.sample(1)], to: path) }
        let file = try self.unsorted(path, mode, exists: mode == .newEpisodes)
        if what == .folderLinkedBack {
            // The bodies are still next to it.
            try files.moveItem(atPath: folder.file("in"), toPath: folder.file("elsewhere"))
            try files.createSymbolicLink(atPath: folder.file("in"), withDestinationPath: "elsewhere")
            _ = try file.close(keepsOld: false, hasUndecoded: false) { _, _ in }
            #expect(try RecordedExchanges.read(path).count == (mode == .once ? 2 : 3))
            return
        }
        try files.moveItem(atPath: path, toPath: moved)
        switch what {
        case .linkedBack: try files.createSymbolicLink(atPath: path, withDestinationPath: moved)
        case .replaced: try Data("a stranger".utf8).write(to: URL(fileURLWithPath: path))
        case .replacedByFolder: try files.createDirectory(atPath: path, withIntermediateDirectories: false)
        case .removed, .folderLinkedBack: break
        }
        let error = #expect(throws: CassetteError.self) { try file.close(keepsOld: false, hasUndecoded: false, lost: 2) { _, _ in } }
        #expect(error?.code == .notFound && error?.message.contains("safe in") == false, "\(error?.message ?? "")")
        #expect(error?.message.contains(what == .removed ? "is gone" : "is another file") == true, "\(error?.message ?? "")")
        #expect(error?.message.hasSuffix(". 2 exchanges are lost.") == true, "\(error?.message ?? "")")
        if what == .replaced { #expect(try String(contentsOfFile: path, encoding: .utf8) == "a stranger") }
        if what == .linkedBack { #expect(try files.destinationOfSymbolicLink(atPath: path) == moved) }
        #expect(try RecordedExchanges.read(moved).count == (mode == .once ? 2 : 3), "the recording is where it was moved")
    }

    @Test(arguments: Displacement.allCases)
    func aCassetteThatWasToBeReplacedAndIsAnotherFileByNowStays(_ what: Displacement) throws {
        guard what != .folderLinkedBack else { return }
        let folder = try TemporaryFolder()
        let files = FileManager.default
        try files.createDirectory(atPath: folder.file("other"), withIntermediateDirectories: false)
        let (path, moved) = (folder.file("tape.json"), folder.file("other/moved.json"))
        try RecordedExchanges.write([.sample(1)], to: path)
        let old = try folder.read("tape.json")
        let file = try self.unsorted(path, .all, exists: true)
        try files.moveItem(atPath: path, toPath: moved)
        switch what {
        case .linkedBack: try files.createSymbolicLink(atPath: path, withDestinationPath: moved)
        case .replaced: try Data("a stranger".utf8).write(to: URL(fileURLWithPath: path))
        case .replacedByFolder: try files.createDirectory(atPath: path, withIntermediateDirectories: false)
        case .removed, .folderLinkedBack: break
        }
        if what == .removed {
            #expect(try file.close(keepsOld: false, hasUndecoded: false) { _, _ in } == path)
            #expect(try RecordedExchanges.read(path).map(\.id) == [3, 4])
        } else {
            let error = #expect(throws: CassetteError.self) { try file.close(keepsOld: false, hasUndecoded: false) { _, _ in } }
            let message = error?.message ?? ""
            #expect(message.contains("\"\(path)\" is another file than the one that this recording was to replace"), "\(message)")
            #expect(message.contains("The recording is finished: all 2 recorded exchanges are safe in \"\(folder.file("tape.new.json"))\""))
            #expect(try RecordedExchanges.read(folder.file("tape.new.json")).map(\.id) == [3, 4])
            if what == .replaced { #expect(try String(contentsOfFile: path, encoding: .utf8) == "a stranger") }
        }
        #expect(try folder.read("other/moved.json") == old)
    }

    @Test func aStrangersFileInPlaceOfAnEmptyRecordingStays() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tape.json")
        for discards in [false, true] {
            let plan = try RecordingPlan(path: path, mode: .once, exists: false)
            let file = try #require(try RecordingFile(plan, version: "1", digest: { PortableSHA256() }))
            try FileManager.default.removeItem(atPath: path)
            try folder.write(Array("a stranger".utf8), to: "tape.json")
            if discards {
                try file.discard()
            } else {
                _ = try file.close(keepsOld: false, keepsEmpty: false, hasUndecoded: false) { _, _ in }
            }
            #expect(try folder.read("tape.json") == Array("a stranger".utf8))
            try FileManager.default.removeItem(atPath: path)
        }
    }

    /// A conversation whose end could not be written is in its journal, which needs the cassette.
    @Test(arguments: [true, false]) func exchangesThatHadNotEndedAreCountedOrLeftInTheirJournals(hasRoom: Bool) throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tape.json")
        let disk = FailingDisk()
        let plan = try RecordingPlan(path: path, mode: .once, exists: false)
        let file = try #require(try RecordingFile(plan, version: "1", redaction: nil, digest: { PortableSHA256() }, disk: disk.calls))
        var writer = JSONWriter(reserving: 1024)
        writer.removeAll(baseDepth: InteractionEncoder.depth)
        InteractionEncoder.encode(TapedExchanges.simple(1).interaction, into: &writer)
        let journal = try file.makeJournal(id: 1, head: writer.bytes, form: .webSocket)
        try withExtendedLifetime(journal) {
            if !hasRoom { disk.with { $0.writeError = ENOSPC } }
            do throws(CassetteError) {
                let closed = try file.close(keepsOld: false, keepsEmpty: false, hasUndecoded: false) { _, _ in }
                #expect(hasRoom && closed == path)
            } catch {
                #expect(!hasRoom && error.message.contains("had not ended are safe next to \"\(path)\""), "\(error.message)")
            }
        }
        #expect(CassettePlace.exists(path))
        #expect(file.adopted == (hasRoom ? 1 : 0) && (file.leftOpen != nil) == !hasRoom)
        if !hasRoom {
            #expect(try RecordedExchanges.read(path).isEmpty)
            _ = try CassetteFinisher.decode(path, version: "1") { _, _ in }
        }
        #expect(try RecordedExchanges.read(path).map(\.id) == [1])
    }

    @Test func aFinalCheckWithoutTimeIsReportedAndKeepsTheOldCassette() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tape.json")
        try RecordedExchanges.write([.sample(1)], to: path)
        let old = try folder.read("tape.json")
        let rules = try RedactionRules(rules: [], secrets: [SecretValue(name: "A", bytes: Array(Self.secret.utf8))])
        let plan = try RecordingPlan(path: path, mode: .all, exists: true)
        let notices = Guarded<[String]>([])
        let recorder = try #require(
            try Recorder(plan, version: "1", redaction: rules, notify: { text in notices.withLock { $0.append(text) } }))
        for _ in 1...3 {
            _ = recorder.put(.exchange(TapedExchanges.simple(recorder.nextID(), body: "a \(Self.secret)"), stored: nil))
        }
        recorder.hasten()
        let closed = try recorder.close(keepsOld: false)
        let status = recorder.currentStatus
        #expect(closed == folder.file("tape.new.json") && status.recorded == 3 && status.lost == 0)
        #expect(status.unchecked == 3 && status.leaks.isEmpty)
        #expect(
            notices.withLock { $0 }.contains {
                $0.contains("3 exchanges were not searched once more") && $0.contains("wiretape redact \(closed)")
            })
        #expect(try folder.read("tape.json") == old)
        #expect(try RecordedExchanges.read(closed).count == 3)
        #expect(try !String(contentsOfFile: closed, encoding: .utf8).contains(Self.secret))
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
