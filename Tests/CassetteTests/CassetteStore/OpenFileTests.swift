@testable import CassetteModel
@testable import CassetteStore
import Foundation
import TapeTestSupport
import Testing

@Suite struct OpenFileTests {
    private let folder = try! TemporaryFolder()  // The test cannot run without its folder.
    private var path: String { self.folder.file("file") }

    private func code(_ body: () throws -> Void) -> CassetteError.Code? { cassetteError(body)?.code }

    @Test func writesReadsAndCuts() throws {
        let file = try OpenFile(self.path, for: .create)
        try file.write([1, 2, 3, 4], at: 0)
        try file.write([9], at: 1)
        #expect(try file.read(0..<4) == [1, 9, 3, 4])
        try file.truncate(to: 2)
        try file.synchronize()
        #expect(try file.size() == 2)
        #expect(throws: CassetteError.self) { try file.read(0..<3) }
    }

    @Test func refusesOtherKindsOfFiles() throws {
        #expect(self.code { _ = try OpenFile(self.folder.path, for: .read) } == .unreadable)
        #expect(mkfifo(self.path, 0o600) == 0)
        #expect(self.code { _ = try OpenFile(self.path, for: .read) } == .unreadable)
        #expect(self.code { _ = try OpenFile("/dev/zero", for: .read) } == .unreadable)
    }

    @Test func refusesInvalidNames() throws {
        #expect(self.code { _ = try OpenFile("", for: .read) } == .unsafePath)
        #expect(self.code { _ = try OpenFile(self.path + "\0x", for: .create) } == .unsafePath)
        #expect(self.code { _ = try OpenFile(self.folder.file(String(repeating: "n", count: 5000)), for: .create) } == .unwritable)
        let folder = try OpenFolder(self.folder.path)
        #expect(cassetteError { _ = try OpenFile("../x", in: folder, for: .create) }?.code == .unsafePath)
    }

    @Test func readsThroughALinkButNeverWritesThroughOne() throws {
        try self.folder.write([1], to: "target")
        try FileManager.default.createSymbolicLink(atPath: self.path, withDestinationPath: self.folder.file("target"))
        #expect(try OpenFile(self.path, for: .read).read(0..<1) == [1])
        #expect(self.code { _ = try OpenFile(self.path, for: .update) } == .unsafePath)
        #expect(self.code { _ = try OpenFile(self.path, for: .create) } == .unsafePath)
    }

    @Test func aSecondLockFails() throws {
        let first = try OpenFile(self.path, for: .create)
        try first.lock()
        let second = try OpenFile(self.path, for: .update)
        #expect(cassetteError { try second.lock() }?.code == .inUse)
    }

    @Test func knowsWhetherItWasReplaced() throws {
        let file = try OpenFile(self.path, for: .create)
        #expect(file.isStill(at: self.path) == true)
        try FileManager.default.removeItem(atPath: self.path)
        #expect(file.isStill(at: self.path) == false)
        try self.folder.write([], to: "file")
        #expect(file.isStill(at: self.path) == false)
    }

    @Test func aWriteWithoutProgressEnds() throws {
        var disk = DiskCalls.system
        disk.write = { _, _, _ in 0 }
        let file = try OpenFile(self.path, for: .create, disk: disk)
        #expect(cassetteError { try file.write([1], at: 0) }?.message.contains("EIO") == true)
    }
}

@Suite struct OpenFilePiecesTests {
    private let folder = try! TemporaryFolder()  // The test cannot run without its folder.

    @Test func coversARangeOnceAndInOrder() throws {
        let bytes = (0..<OpenFile.pieceSize * 2 + 100).map { UInt8(truncatingIfNeeded: $0 % 251) }
        let file = try OpenFile(self.folder.write(bytes, to: "file"), for: .read)
        for range in [0..<bytes.count, 7..<9, 10..<OpenFile.pieceSize + 10, 0..<0] {
            var seen: [UInt8] = []
            try file.forEachPiece(in: range) { piece, offset in
                #expect(offset == range.lowerBound + seen.count)
                seen += piece
                return true
            }
            #expect(seen == Array(bytes[range]))
        }
    }

    @Test func findsAPatternAcrossTheEdgeOfAPiece() throws {
        let pattern = Array("\nneedle".utf8)
        for place in [0, 1, OpenFile.pieceSize - 7, OpenFile.pieceSize - 3, OpenFile.pieceSize, OpenFile.pieceSize * 2 - 5] {
            var bytes = [UInt8](repeating: 0x0a, count: OpenFile.pieceSize * 2 + 10)
            bytes.replaceSubrange(place..<(place + pattern.count), with: pattern)
            let file = try OpenFile(self.folder.write(bytes, to: "file"), for: .read)
            #expect(try file.firstOffset(of: pattern, in: 0..<bytes.count) == place)
            #expect(try file.firstOffset(of: pattern, in: (place + 1)..<bytes.count) == nil)
            #expect(try file.firstOffset(of: pattern, in: 0..<(place + pattern.count - 1)) == nil)
        }
    }

    @Test func endsWhereTheFileEnds() throws {
        let file = try OpenFile(self.folder.write([1, 2, 3], to: "file"), for: .read)
        var count = 0
        try file.forEachPiece(in: 0..<1000, overlap: 2) { piece, _ in
            count += 1
            return count < 10
        }
        #expect(count < 10)
    }
}

@Suite struct SharedFileTests {
    private let folder = try! TemporaryFolder()  // The test cannot run without its folder.

    @Test func holdsTheLockUntilTheLastHolderIsGone() throws {
        let path = try self.folder.write([1], to: "file")
        var first: SharedFile? = try SharedFile.locked(path, disk: .system)
        var second = first
        first = nil
        #expect(cassetteError { _ = try SharedFile.locked(path, disk: .system) }?.code == .inUse)
        #expect(second?.file.path == path)
        second = nil
        _ = try SharedFile.locked(path, disk: .system)
    }

    #if os(Linux)
    @Test func closesItsDescriptors() throws {
        let path = try self.folder.write([1], to: "file")
        let descriptor = try OpenFile(path, for: .read).descriptor
        for _ in 0..<2000 {
            _ = try SharedFile.locked(path, disk: .system)
            _ = cassetteError { _ = try OpenFile(self.folder.path, for: .read) }
        }
        // Other tests open files in the meantime, but not thousands.
        #expect(try OpenFile(path, for: .read).descriptor < descriptor + 500)
    }
    #endif
}
