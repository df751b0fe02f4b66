import TapeTestSupport
import Testing

@testable import CassetteStore

@Suite struct PendingSyncTests {
    private func encoded(_ id: Int) -> [UInt8] {
        Array("    {\n      \"id\": \(id),\n      \"started\": \"2026-01-01T00:00:00.000000Z\"\n    }".utf8)
    }

    @Test func anAppenderSyncsOnceForWhatWasWritten() throws {
        let folder = try TemporaryFolder()
        let appender = try CassetteAppender.create(folder.file("a.json"), recorder: "test")
        try appender.append([self.encoded(1)])
        let sync = try #require(try appender.beginSync())
        #expect(try appender.beginSync() == nil)
        try sync.run()
        appender.syncFailed()
        #expect(try appender.beginSync() != nil)
    }

    @Test func whatAFailedSyncWasForIsToBeSyncedAgain() throws {
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
