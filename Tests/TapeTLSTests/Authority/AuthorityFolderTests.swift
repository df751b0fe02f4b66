import Foundation
import Testing
@testable import TapeTLS

@Suite struct AuthorityFolderTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func mode(_ name: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: self.folder.file(name))[.posixPermissions] as? Int)
    }

    @Test func missingFoldersAreMadeForTheirOwnerAlone() throws {
        _ = try AuthorityFolder(self.folder.file("share/wiretape"))
        #expect(try self.mode("share/wiretape") == 0o700)
        #expect(try self.mode("share") == 0o700)
        // A folder that is there stays as it is.
        chmod(self.folder.file("share"), 0o755)
        _ = try AuthorityFolder(self.folder.file("share"))
        #expect(try self.mode("share") == 0o755)
    }

    @Test func theLockIsOnesAloneUntilItIsFreed() throws {
        var lock: AuthorityFolder? = try AuthorityFolder(self.folder.path)
        lock?.synchronize()
        let other = open(self.folder.path, O_RDONLY)
        defer { close(other) }
        #expect(flock(other, LOCK_EX | LOCK_NB) == -1)
        lock = nil
        #expect(flock(other, LOCK_EX | LOCK_NB) == 0)
    }

    @Test func aFileInThePlaceOfTheFolderIsNamed() throws {
        let path = try self.folder.write([1], to: "file")
        #expect(
            certificateError { _ = try AuthorityFolder(path) }?.message.hasPrefix("cannot use the folder \"\(path)\": Not a directory")
                == true)
        #expect(certificateError { _ = try AuthorityFolder(path + "/ca") }?.code == .unwritable)
    }
}
