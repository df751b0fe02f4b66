import CassetteModel
import CassettePlayback
import CassetteRedaction
import CassetteStore
import Foundation
import TapeBytes
@testable import TapeRecorder
import TapeTestSupport
import Testing

@Suite struct RecordingFileTests {
    private func file(_ folder: TemporaryFolder, _ mode: RecordMode) throws -> RecordingFile? {
        let path = folder.file("tape.json")
        return try RecordingFile(
            RecordingPlan(path: path, mode: mode, exists: CassettePlace.exists(path, for: mode)), version: "1", digest: { PortableSHA256() }
        )
    }

    @Test func anEmptyRecordingIsACompleteCassette() throws {
        let folder = try TemporaryFolder()
        let file = try #require(try self.file(folder, .all))
        #expect(file.lastID == 0)
        #expect(try file.close(keepsOld: false, hasUndecoded: false) { _, _ in } == folder.file("tape.json"))
        #expect(try RecordedExchanges.read(folder.file("tape.json")).isEmpty)
    }

    @Test(arguments: [RecordMode.once, .all, .newEpisodes]) func anEmptyFileIsRecordedLikeAnAbsentOne(mode: RecordMode) throws {
        let folder = try TemporaryFolder()
        try folder.write([], to: "tape.json")
        let file = try #require(try self.file(folder, mode))
        #expect(file.repaired == nil)
        #expect(try file.close(keepsOld: false, hasUndecoded: false) { _, _ in } == folder.file("tape.json"))
        #expect(try RecordedExchanges.read(folder.file("tape.json")).isEmpty)
        #expect(try folder.names(in: "").filter { $0.hasSuffix(".json") || $0.contains("torn") } == ["tape.json"])
        let rules = try CassetteHead(CassetteReader(path: folder.file("tape.json")).head()).redactionRules()
        #expect(rules != nil, "the head has the members of a new cassette")
    }

    @Test func anEmptyFileThatAnotherRecorderHasIsRefused() throws {
        let folder = try TemporaryFolder()
        try folder.write([], to: "tape.json")
        let lock = try CassetteLock(folder.file("tape.json"))
        let error = #expect(throws: CassetteError.self) { try self.file(folder, .once) }
        #expect(error?.code == .inUse)
        withExtendedLifetime(lock) {}
    }

    @Test func anEmptyLeftoverRecordingDoesNotPreventAReplacement() throws {
        let folder = try TemporaryFolder()
        _ = try self.file(folder, .all)?.close(keepsOld: false, hasUndecoded: false) { _, _ in }
        try folder.write([], to: "tape.new.json")
        let file = try #require(try self.file(folder, .all))
        #expect(try file.close(keepsOld: false, hasUndecoded: false) { _, _ in } == folder.file("tape.json"))
        #expect(try folder.read("tape.new.json").isEmpty)
    }

    @Test(arguments: [RecordMode.all, .newEpisodes]) func fileThatIsNoCassetteIsRefusedAndUnchanged(mode: RecordMode) throws {
        let folder = try TemporaryFolder()
        try folder.write(Array("{ \"dependencies\": [] }".utf8), to: "tape.json")
        #expect(throws: CassetteError.self) { try self.file(folder, mode) }
        #expect(try folder.read("tape.json") == Array("{ \"dependencies\": [] }".utf8))
        #expect(try folder.names() == ["tape.json"])
    }

    @Test func aSecondRecorderOfOneCassetteIsRefused() throws {
        let folder = try TemporaryFolder()
        let first = try self.file(folder, .all)
        #expect(throws: CassetteError.self) { try self.file(folder, .newEpisodes) }
        withExtendedLifetime(first) {}
    }

    @Test(arguments: [RecordMode.all, .newEpisodes]) func aCassetteThatWillBeReplacedIsLocked(other: RecordMode) throws {
        let folder = try TemporaryFolder()
        _ = try self.file(folder, .all)?.close(keepsOld: false, hasUndecoded: false) { _, _ in }
        let replacing = try #require(try self.file(folder, .all))
        let error = #expect(throws: CassetteError.self) { try self.file(folder, other) }
        #expect(error?.code == .inUse)
        _ = try replacing.close(keepsOld: false, hasUndecoded: false) { _, _ in }
        _ = try self.file(folder, other)?.close(keepsOld: false, hasUndecoded: false) { _, _ in }
    }

    @Test func aNewRecordingIsAsPrivateAsTheOld() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tape.json")
        _ = try self.file(folder, .all)?.close(keepsOld: false, hasUndecoded: false) { _, _ in }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        let file = try #require(try self.file(folder, .all))
        let mode = { (path: String) in try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int }
        #expect(try mode(folder.file("tape.new.json")) == 0o600)
        _ = try file.close(keepsOld: false, hasUndecoded: false) { _, _ in }
        #expect(try mode(path) == 0o600)
    }

    /// From then on it may contain secrets.
    @Test(arguments: [true, false]) func aRedactedCassetteThatIsContinuedWithoutRedactionIsPrivate(isRedacted: Bool) throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tape.json")
        func open(_ mode: RecordMode, _ rules: RedactionRules?) throws -> RecordingFile? {
            try RecordingFile(
                RecordingPlan(path: path, mode: mode, exists: CassettePlace.exists(path, for: mode)), version: "1", redaction: rules,
                digest: { PortableSHA256() })
        }
        _ = try open(.all, .standard)?.close(keepsOld: false, hasUndecoded: false) { _, _ in }
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        _ = try open(.newEpisodes, isRedacted ? .standard : nil)?.close(keepsOld: false, hasUndecoded: false) { _, _ in }
        let permissions = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(permissions == (isRedacted ? 0o644 : 0o600))
    }

    @Test func sidecarsOfAnAdjacentRecordingStay() throws {
        let folder = try TemporaryFolder()
        _ = try self.file(folder, .all)?.close(keepsOld: false, hasUndecoded: false) { _, _ in }
        let beside = try #require(try Recorder(RecordingPlan(path: folder.file("tape.json"), mode: .all, exists: true), version: "1"))
        _ = beside.put(
            .exchange(
                TapedExchanges.exchange(1, fields: ["Content-Type: image/png"], body: [UInt8](repeating: 1, count: 65_000)), stored: nil))
        #expect(try beside.close(keepsOld: true) == folder.file("tape.new.json"))
        _ = try self.file(folder, .all)?.close(keepsOld: false, hasUndecoded: false) { _, _ in }
        #expect(try folder.names() == ["tape.bodies", "tape.json", "tape.new.json"])
        #expect(try folder.names(in: "tape.bodies").count == 1)
    }

    @Test func sidecarsOfTheOldRecordingGoWithIt() throws {
        let folder = try TemporaryFolder()
        let old = try #require(try Recorder(RecordingPlan(path: folder.file("tape.json"), mode: .all, exists: false), version: "1"))
        _ = old.put(
            .exchange(
                TapedExchanges.exchange(1, fields: ["Content-Type: image/png"], body: [UInt8](repeating: 1, count: 65_000)), stored: nil))
        _ = try old.close(keepsOld: false)
        #expect(try folder.names(in: "tape.bodies").count == 1)
        let new = try #require(try Recorder(RecordingPlan(path: folder.file("tape.json"), mode: .all, exists: true), version: "1"))
        _ = new.put(.exchange(TapedExchanges.exchange(1, fields: ["Content-Type: text/plain"], body: Array("small".utf8)), stored: nil))
        _ = try new.close(keepsOld: false)
        #expect(try folder.names(in: "tape.bodies").isEmpty)
    }

    @Test func anEmptyRecordingReplacesNothing() throws {
        let folder = try TemporaryFolder()
        let old = try #require(try Recorder(RecordingPlan(path: folder.file("tape.json"), mode: .all, exists: false), version: "1"))
        _ = old.put(.exchange(TapedExchanges.exchange(1, fields: ["Content-Type: text/plain"], body: Array("small".utf8)), stored: nil))
        _ = try old.close(keepsOld: false)
        let before = try folder.read("tape.json")
        let empty = try #require(try self.file(folder, .all))
        #expect(try empty.close(keepsOld: false, hasUndecoded: false) { _, _ in } == folder.file("tape.json"))
        #expect(try folder.read("tape.json") == before)
        #expect(try folder.names().filter { $0.hasSuffix(".json") } == ["tape.json"])
    }

    @Test func aCassetteThatIsMadeHasTheHeadMembersOfItsPlan() throws {
        let folder = try TemporaryFolder()
        var plan = try RecordingPlan(path: folder.file("tape.json"), mode: .all, exists: false)
        plan.headMembers = [UnknownMember(name: "match", json: Array("{ \"ignore\": [\"path\"] }".utf8))]
        let file = try #require(try RecordingFile(plan, version: "1", digest: { PortableSHA256() }))
        let path = try file.close(keepsOld: true, hasUndecoded: false) { _, _ in }
        #expect(try RecordedCassette.matchTexts(ofFile: path) == MatchRuleTexts(ignore: ["path"]))
    }
}

@Suite struct BackgroundSyncTests {
    @Test func waitingGivesTheEndAsOftenAsItIsAskedFor() throws {
        let sync = BackgroundSync([])
        for _ in 0..<2 {
            guard case .success? = sync.result(waits: true) else { return #expect(Bool(false), "it did not end well") }
        }
        guard case .success? = sync.result(waits: false) else { return #expect(Bool(false), "it did not end well") }
    }
}
