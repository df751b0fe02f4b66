import TapeCore
import Testing
@testable import TapeProxy

@Suite struct RecordingFileTests {
    private func file(_ folder: TemporaryFolder, _ mode: RecordMode) throws -> RecordingFile? {
        let path = folder.file("tape.json")
        return try RecordingFile(RecordingPlan(path: path, mode: mode, exists: CassettePlace.exists(path)), version: "1")
    }

    @Test func anEmptyRecordingIsAWholeCassette() throws {
        let folder = try TemporaryFolder()
        let file = try #require(try self.file(folder, .all))
        #expect(file.lastID == 0)
        #expect(try file.close(keepsOld: false, undeveloped: false) { _, _ in } == folder.file("tape.json"))
        #expect(try RunningProxy.interactions(folder.file("tape.json")).isEmpty)
    }

    @Test(arguments: [RecordMode.all, .newEpisodes]) func whatIsNoCassetteIsRefusedBeforeTheRecordingAndLeftAlone(mode: RecordMode) throws {
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

    @Test func sidecarsOfTheOldRecordingGoWithIt() throws {
        let folder = try TemporaryFolder()
        let old = try #require(try Recorder(RecordingPlan(path: folder.file("tape.json"), mode: .all, exists: false), version: "1"))
        _ = old.put(
            .exchange(
                TapedExchanges.exchange(1, fields: ["Content-Type: image/png"], body: [UInt8](repeating: 1, count: 65_000)), stored: nil))
        _ = try old.close(keepsOld: false)
        #expect(try folder.names(in: "tape.bodies").count == 1)
        let file = try #require(try self.file(folder, .all))
        _ = try file.close(keepsOld: false, undeveloped: false) { _, _ in }
        #expect(try folder.names(in: "tape.bodies").isEmpty)
    }
}
