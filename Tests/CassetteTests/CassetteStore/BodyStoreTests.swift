@testable import CassetteModel
@testable import CassetteStore
import Foundation
@testable import TapeBytes
import TapeTestSupport
import Testing

@Suite struct BodyStoreTests {
    private let folder = try! TemporaryFolder()  // The test cannot run without its folder.
    private var path: String { self.folder.file("pets.json") }

    private func sha256(_ bytes: [UInt8]) -> String {
        var digest = PortableSHA256()
        bytes.withUnsafeBytes { digest.update($0) }
        return Hex.encode(digest.finalize())
    }

    private func store(_ bytes: [UInt8], ext: String = "jpg", in store: BodyStore) throws -> Sidecar {
        let spool = try store.makeSpool()
        for start in stride(from: 0, to: bytes.count, by: 1000) { try spool.write(Array(bytes[start..<min(start + 1000, bytes.count)])) }
        return try spool.finish(sha256: self.sha256(bytes), ext: ext)
    }

    private func body(_ seed: UInt64, count: Int = 5000) -> [UInt8] {
        var generator = SeededGenerator(seed: seed)
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    @Test func makesNoFolderBeforeItIsNeeded() throws {
        _ = try BodyStore(cassettePath: self.path)
        #expect(try self.folder.names().isEmpty)
    }

    @Test func aBodyIsNamedByItsContent() throws {
        let body = self.body(1)
        let sidecar = try self.store(body, in: BodyStore(cassettePath: self.path))
        #expect(sidecar == Sidecar(path: "pets.bodies/\(self.sha256(body)).jpg", size: 5000, sha256: self.sha256(body)))
        #expect(try self.folder.read(sidecar.path) == body)
        #expect(try self.folder.names(in: "pets.bodies").count == 1)
    }

    @Test func equalBodiesAreStoredOnce() throws {
        let store = try BodyStore(cassettePath: self.path)
        let first = try self.store(self.body(1), in: store)
        #expect(try self.store(self.body(1), in: store) == first)
        #expect(try self.folder.names(in: "pets.bodies").count == 1)
    }

    @Test func aDamagedFileOfThatNameIsReplaced() throws {
        let body = self.body(1)
        let sidecar = try self.store(body, in: BodyStore(cassettePath: self.path))
        try self.folder.write([UInt8](repeating: 0, count: body.count), to: sidecar.path)
        _ = try self.store(body, in: BodyStore(cassettePath: self.path))
        #expect(try self.folder.read(sidecar.path) == body)
    }

    @Test func onlySidecarsThatNoOneNamesAreRemoved() throws {
        let store = try BodyStore(cassettePath: self.path)
        let kept = try self.store(self.body(1), in: store)
        _ = try self.store(self.body(2), in: store)
        try self.folder.write([1], to: "pets.bodies/notes.txt")
        _ = try store.rawSpool()
        #expect(try store.removeSidecars(keeping: [kept.path]) == 1)
        let names = try self.folder.names(in: "pets.bodies")
        #expect(Set(names) == ["notes.txt", "undeveloped.raw", String(kept.path.dropFirst(12))])
        try store.removeRawSpool()
        #expect(try !self.folder.names(in: "pets.bodies").contains("undeveloped.raw"))
    }

    @Test func leftoversOfADeadRecorderAreRemovedAndNoOthers() throws {
        let store = try BodyStore(cassettePath: self.path)
        let alive = try store.makeSpool()
        try alive.write([1, 2, 3])
        try self.folder.write([1], to: "pets.bodies/.part-1-1")
        _ = try BodyStore(cassettePath: self.path)
        #if os(Linux)
        #expect(try self.folder.names(in: "pets.bodies").isEmpty)
        #else
        #expect(try self.folder.names(in: "pets.bodies") == [".part-\(getpid())-1"])
        #endif
        _ = try alive.finish(sha256: self.sha256([1, 2, 3]), ext: "bin")
    }

    @Test func syncsSidecarsBeforeItSaysSo() throws {
        let disk = FaultyDisk()
        let store = try BodyStore(cassettePath: self.path, disk: disk.calls)
        #expect(!store.needsSync)
        _ = try self.store(self.body(1), in: store)
        _ = try store.rawSpool().append([1, 2])
        #expect(store.needsSync)
        disk.with { $0.syncError = EIO }
        #expect(cassetteError { try store.syncAll() }?.message.contains("EIO") == true)
        #expect(store.needsSync)
        disk.with { $0.syncError = 0 }
        try store.syncAll()
        #expect(!store.needsSync)
    }

    /// With any number of files; file by file where the system has no such call.
    @Test(arguments: [true, false]) func manySidecarsAreSyncedByOneCall(_ hasCall: Bool) throws {
        let counts = Guarded((files: 0, systems: 0))
        var disk = DiskCalls.system
        disk.synchronize = { _ in
            counts.withLock { $0.files += 1 }
            return 0
        }
        disk.synchronizeFileSystem = { _ in
            counts.withLock { $0.systems += 1 }
            return hasCall ? 0 : -Int(ENOSYS)
        }
        let store = try BodyStore(cassettePath: self.path, disk: disk)
        store.syncsFileSystem = true
        for seed in 0..<20 { _ = try self.store(self.body(UInt64(seed), count: 100), in: store) }
        try store.syncAll()
        #expect(counts.withLock { $0.systems } == 1 && counts.withLock { $0.files } == (hasCall ? 0 : 20) && !store.needsSync)
    }

    @Test func aLinkInsteadOfTheFolderIsNotFollowed() throws {
        try FileManager.default.createDirectory(atPath: self.folder.file("elsewhere"), withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(
            atPath: self.folder.file("pets.bodies"), withDestinationPath: self.folder.file("elsewhere"))
        #expect(cassetteError { _ = try BodyStore(cassettePath: self.path) }?.code == .unsafePath)
    }
}

@Suite struct PendingSyncTests {
    private func encoded(_ id: Int) -> [UInt8] {
        Array("    {\n      \"id\": \(id),\n      \"started\": \"2026-01-01T00:00:00.000000Z\"\n    }".utf8)
    }

    @Test func anAppenderSyncsOncePerWrite() throws {
        let folder = try TemporaryFolder()
        let appender = try CassetteAppender.create(folder.file("a.json"), recorder: "test")
        try appender.append([self.encoded(1)])
        let sync = try #require(try appender.beginSync())
        #expect(try appender.beginSync() == nil)
        try sync.run()
        appender.syncFailed()
        #expect(try appender.beginSync() != nil)
    }

    @Test func filesOfAFailedSyncAreSyncedAgain() throws {
        let folder = try TemporaryFolder()
        let store = try BodyStore(cassettePath: folder.file("a.json"))
        #expect(store.beginSync() == nil)
        let spool = try store.makeSpool()
        try spool.write(Array("body".utf8))
        let digest = String(repeating: "ab", count: 32)
        _ = try spool.finish(sha256: digest, ext: "txt")
        _ = try store.rawSpool().append(Array("raw".utf8))
        let sync = try #require(store.beginSync())
        #expect(sync.names.contains("\(digest).txt"))
        #expect(!store.needsSync)
        try sync.run()
        store.syncFailed(sync)
        #expect(store.needsSync)
        try #require(store.beginSync()).run()
        #expect(!store.needsSync)
    }
}
