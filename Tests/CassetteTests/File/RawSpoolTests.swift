import TapeTestSupport
import Testing
@testable import CassetteModel
@testable import CassetteStore

@Suite struct RawSpoolTests {
    private let folder = try! TemporaryFolder()  // A test without its folder has nothing to say.
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
