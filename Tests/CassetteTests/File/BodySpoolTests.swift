import Foundation
import TapeTestSupport
import Testing
@testable import CassetteModel
@testable import CassetteStore

@Suite struct BodySpoolTests {
    private let folder = try! TemporaryFolder()  // A test without its folder has nothing to say.
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
    @Test func whatIsNotFinishedHasNoNameAndNoOneElseCanReadIt() throws {
        let spool = try self.store().makeSpool()
        try spool.write([1, 2, 3])
        #expect(try self.folder.names(in: "pets.bodies").isEmpty)
        let sidecar = try spool.finish(sha256: self.digest, ext: "bin")
        #expect(try self.folder.read(sidecar.path) == [1, 2, 3])
        #expect(try self.folder.names(in: "pets.bodies") == [self.digest + ".bin"])
    }
    #endif
}
