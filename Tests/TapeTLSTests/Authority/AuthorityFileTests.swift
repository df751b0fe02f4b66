import Foundation
import Testing
@testable import TapeTLS

@Suite struct AuthorityFileTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func file(_ name: String, followsLinks: Bool = false) -> AuthorityFile {
        AuthorityFile(path: self.folder.file(name), followsLinks: followsLinks)
    }

    private func mode(_ name: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: self.folder.file(name))[.posixPermissions] as? Int)
    }

    @Test func whatIsCreatedIsReadAgainAndLeavesNothingBeside() throws {
        try self.file("key").create([1, 2, 3], mode: 0o600)
        #expect(try self.file("key").read() == [1, 2, 3])
        #expect(try self.mode("key") == 0o600)
        #expect(try self.folder.names() == ["key"])
        #expect(self.file("key").isReadableByOthers == false)
    }

    @Test func aTakenNameIsKept() throws {
        try self.folder.write([9], to: "key")
        let error = certificateError { try self.file("key").create([1], mode: 0o600) }
        #expect(error?.code == .unwritable)
        #expect(error?.message.hasPrefix("cannot create \"\(self.folder.file("key"))\": File exists") == true)
        #expect(try self.folder.read("key") == [9])
        #expect(try self.folder.names() == ["key"])
    }

    @Test func aLinkIsFollowedOnlyWhereItIsMeantToBe() throws {
        try self.folder.write([7], to: "target")
        try FileManager.default.createSymbolicLink(atPath: self.folder.file("link"), withDestinationPath: "target")
        try FileManager.default.createSymbolicLink(atPath: self.folder.file("nowhere"), withDestinationPath: "gone")
        let error = certificateError { _ = try self.file("link").read() }
        #expect(error?.code == .unsafePath)
        #expect(error?.message.contains(self.folder.file("link")) == true)
        #expect(try self.file("link", followsLinks: true).read() == [7])
        #expect(self.file("nowhere").isPresent)
        #expect(self.file("gone").isPresent == false)
    }

    @Test func whatIsNoFileIsRefusedWithoutWaiting() throws {
        mkfifo(self.folder.file("pipe"), 0o600)
        #expect(certificateError { _ = try self.file("pipe").read() }?.code == .unsafePath)
        #expect(certificateError { _ = try AuthorityFile(path: self.folder.path, followsLinks: true).read() }?.code == .unsafePath)
        #expect(certificateError { _ = try self.file("missing").read() }?.code == .notFound)
    }

    @Test func aHugeFileIsRefused() throws {
        try self.folder.write([UInt8](repeating: 0x20, count: 1 << 20 + 1), to: "huge")
        #expect(certificateError { _ = try self.file("huge").read() }?.code == .damaged)
    }

    @Test func othersMayNotRead() throws {
        try self.folder.write([1], to: "key")
        chmod(self.folder.file("key"), 0o640)
        #expect(self.file("key").isReadableByOthers)
    }
}
