@testable import CassetteModel
@testable import CassetteStore
import Foundation
import TapeTestSupport
import Testing

@Suite struct BodySpoolTests {
    private let folder = try! TemporaryFolder()  // The test cannot run without its folder.
    private let digest = String(repeating: "0a", count: 32)

    private func store(_ disk: DiskCalls = .system) throws -> BodyStore {
        try BodyStore(cassettePath: self.folder.file("pets.json"), disk: disk)
    }

    @Test func discardingLeavesNothing() throws {
        let store = try self.store()
        let spool = try store.makeSpool()
        try spool.write([1, 2, 3])
        spool.discard()
        #expect(try self.folder.names(in: "pets.bodies").isEmpty)
    }

    @Test func forgettingLeavesNothing() throws {
        let store = try self.store()
        do { try store.makeSpool().write([1, 2, 3]) }
        #expect(try self.folder.names(in: "pets.bodies").isEmpty)
    }

    @Test func givesBackWhatWasWritten() throws {
        let spool = try self.store().makeSpool()
        try spool.write([1, 2, 3])
        try spool.write([4, 5])
        var bytes = [UInt8](repeating: 0, count: 10)
        #expect(try bytes.withUnsafeMutableBytes { try spool.read(into: $0, at: 1) } == 4)
        #expect(bytes[..<4] == [2, 3, 4, 5])
        #expect(try bytes.withUnsafeMutableBytes { try spool.read(into: $0, at: 99) } == 0)
    }

    @Test func aPieceThatFailedIsNotPartOfTheBody() throws {
        let disk = FaultyDisk()
        let spool = try self.store(disk.calls).makeSpool()
        try spool.write([1, 2, 3])
        disk.with { $0.end = 5 }
        #expect(cassetteError { try spool.write([9, 9, 9, 9]) }?.code == .noSpace)
        #expect(spool.size == 3)
        let sidecar = try spool.finish(sha256: self.digest, ext: "bin")
        #expect(try self.folder.read(sidecar.path) == [1, 2, 3])
    }

    @Test func aNameThatIsNoDigestIsRefused() throws {
        let store = try self.store()
        let spool = try store.makeSpool()
        #expect(cassetteError { _ = try spool.finish(sha256: "../../etc/passwd", ext: "x") }?.code == .unsafePath)
        spool.discard()
        #expect(try self.folder.names() == ["pets.bodies"])
    }

    #if os(Linux)
    @Test func unfinishedFileHasNoName() throws {
        let spool = try self.store().makeSpool()
        try spool.write([1, 2, 3])
        #expect(try self.folder.names(in: "pets.bodies").isEmpty)
        let sidecar = try spool.finish(sha256: self.digest, ext: "bin")
        #expect(try self.folder.read(sidecar.path) == [1, 2, 3])
        #expect(try self.folder.names(in: "pets.bodies") == [self.digest + ".bin"])
    }
    #endif
}

@Suite struct RawSpoolTests {
    private let folder = try! TemporaryFolder()  // The test cannot run without its folder.
    private var path: String { self.folder.file("pets.json") }

    @Test func slicesAreOneAfterTheOther() throws {
        let spool = try BodyStore(cassettePath: self.path).rawSpool()
        let first = try spool.append(Array("hello".utf8))
        let second = try spool.append([])
        let third = try spool.append(Array("123456789".utf8))
        #expect(first == RawSlice(path: "pets.bodies/undeveloped.raw", offset: 0, size: 5, crc32: 0x3610_a686))
        #expect(second.offset == 5 && second.size == 0 && second.crc32 == 0)
        #expect(third == RawSlice(path: "pets.bodies/undeveloped.raw", offset: 5, size: 9, crc32: 0xcbf4_3926))
        let reader = BodyReader(cassettePath: self.path)
        #expect(try reader.read(first) == Array("hello".utf8))
        #expect(try reader.read(second).isEmpty)
        #expect(try reader.read(third) == Array("123456789".utf8))
    }

    @Test func theLastSliceGrowsPieceByPiece() throws {
        let spool = try BodyStore(cassettePath: self.path).rawSpool()
        _ = try spool.append([7])
        var slice = try spool.append(Array("1234".utf8))
        try Array("56789".utf8).withUnsafeBytes { try spool.append($0, to: &slice) }
        #expect(slice == RawSlice(path: "pets.bodies/undeveloped.raw", offset: 1, size: 9, crc32: 0xcbf4_3926))
        #expect(try BodyReader(cassettePath: self.path).read(slice) == Array("123456789".utf8))
    }

    @Test func aFailedAppendLeavesRoomForTheNext() throws {
        let disk = FaultyDisk()
        let spool = try BodyStore(cassettePath: self.path, disk: disk.calls).rawSpool()
        _ = try spool.append([1, 2])
        disk.with { $0.end = 4 }
        #expect(cassetteError { _ = try spool.append([3, 4, 5]) }?.code == .noSpace)
        disk.with { $0.end = .max }
        let slice = try spool.append([6])
        #expect(slice.offset == 2)
        #expect(try BodyReader(cassettePath: self.path).read(slice) == [6])
    }

    @Test func aLaterRecorderGoesOnAfterTheEarlier() throws {
        let first = try BodyStore(cassettePath: self.path).rawSpool().append([1, 2, 3])
        let second = try BodyStore(cassettePath: self.path).rawSpool().append([4])
        #expect(second.offset == 3)
        #expect(try BodyReader(cassettePath: self.path).read(first) == [1, 2, 3])
    }
}
