import CassetteFormat
import CassetteModel
@testable import CassetteStore
import Foundation
import TapeBytes
import TapeTestSupport
import Testing

@Suite struct CassetteFollowerTests {
    private let folder = try! TemporaryFolder()  // The test cannot run without its folder.
    private var path: String { self.folder.file("pets.json") }

    private func text(_ id: Int) -> [UInt8] {
        var writer = JSONWriter()
        writer.removeAll(baseDepth: InteractionEncoder.depth)
        InteractionEncoder.encode(.sample(id), into: &writer)
        return writer.bytes
    }

    private func ids(_ follower: CassetteFollower) throws -> [Int] {
        let epoch = follower.epoch
        return try epoch.ranges.map { try InteractionDecoder.decode(epoch.bytes($0), at: .textAlone).id }
    }

    @Test func appendedExchangesAreSeen() throws {
        let appender = try CassetteAppender.create(self.path, recorder: "wiretape")
        let follower = try CassetteFollower(path: self.path)
        #expect(try follower.follow() == .none)
        #expect(try self.ids(follower) == [])
        try appender.append([self.text(1)])
        #expect(try follower.follow() == .grown)
        try appender.append([self.text(2), self.text(3)])
        #expect(try follower.follow() == .grown)
        #expect(try follower.follow() == .none)
        #expect(try self.ids(follower) == [1, 2, 3])
        #expect(follower.epoch.number == 1 && follower.epoch.damage == nil)
    }

    @Test func aHalfFinishedWriteIsReadOnceItIsComplete() throws {
        let appender = try CassetteAppender.create(self.path, recorder: "wiretape")
        try appender.append([self.text(1)])
        let follower = try CassetteFollower(path: self.path)
        let whole = try self.folder.read("pets.json")
        let insertion = follower.epoch.ranges[0].upperBound
        let file = try #require(FileHandle(forUpdatingAtPath: self.path))
        for length in [1, 2, 7, 40] {
            let half = Array(",\n".utf8) + self.text(2)
            try file.truncate(atOffset: UInt64(insertion))
            try file.seek(toOffset: UInt64(insertion))
            try file.write(contentsOf: half.prefix(length))
            _ = try follower.follow()
            #expect(try self.ids(follower) == [1], "\(length)")
        }
        try file.seek(toOffset: UInt64(insertion))
        try file.write(contentsOf: Array(",\n".utf8) + self.text(2) + whole[insertion...])
        #expect(try follower.follow() == .grown)
        #expect(try self.ids(follower) == [1, 2])
    }

    @Test func anotherFileIsAnotherEpoch() throws {
        try RecordedExchanges.write([.sample(1), .sample(2)], to: self.path)
        let follower = try CassetteFollower(path: self.path)
        let old = follower.epoch
        try RecordedExchanges.write([.sample(9)], to: self.folder.file("new.json"))
        try FileManager.default.removeItem(atPath: self.path)
        try FileManager.default.moveItem(atPath: self.folder.file("new.json"), toPath: self.path)
        #expect(try follower.follow() == .replaced)
        #expect(try self.ids(follower) == [9])
        #expect(follower.epoch.number == 2)
        // An older view reads the older file.
        #expect(try InteractionDecoder.decode(old.bytes(old.ranges[1]), at: .textAlone).id == 2)
    }

    @Test func aTruncatedFileIsReadAgain() throws {
        try RecordedExchanges.write([.sample(1), .sample(2)], to: self.path)
        let follower = try CassetteFollower(path: self.path)
        let cut = follower.epoch.ranges[0].upperBound + 20
        let file = try #require(FileHandle(forUpdatingAtPath: self.path))
        try file.truncate(atOffset: UInt64(cut))
        #expect(try follower.follow() == .replaced)
        #expect(try self.ids(follower) == [1])
        #expect(follower.epoch.damage?.interactions == 1)
    }

    @Test func aMissingFileIsReportedAndFoundAgain() throws {
        try RecordedExchanges.write([.sample(1)], to: self.path)
        let follower = try CassetteFollower(path: self.path)
        try FileManager.default.moveItem(atPath: self.path, toPath: self.folder.file("away.json"))
        #expect(throws: CassetteError.self) { try follower.follow() }
        try FileManager.default.moveItem(atPath: self.folder.file("away.json"), toPath: self.path)
        #expect(try follower.follow() == .none)
        #expect(try self.ids(follower) == [1])
    }
}
