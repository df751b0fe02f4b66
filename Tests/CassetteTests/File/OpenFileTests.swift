import Foundation
import TapeTestSupport
import Testing
@testable import CassetteModel
@testable import CassetteStore

@Suite struct OpenFileTests {
    private let folder = try! TemporaryFolder()  // A test without its folder has nothing to say.
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

    @Test func refusesWhatIsNoRegularFile() throws {
        #expect(self.code { _ = try OpenFile(self.folder.path, for: .read) } == .unreadable)
        #expect(mkfifo(self.path, 0o600) == 0)
        #expect(self.code { _ = try OpenFile(self.path, for: .read) } == .unreadable)
        #expect(self.code { _ = try OpenFile("/dev/zero", for: .read) } == .unreadable)
    }

    @Test func refusesNamesThatAreNone() throws {
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
