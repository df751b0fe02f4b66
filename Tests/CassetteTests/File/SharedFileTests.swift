import Foundation
import TapeTestSupport
import Testing
@testable import CassetteModel
@testable import CassetteStore

@Suite struct SharedFileTests {
    private let folder = try! TemporaryFolder()  // A test without its folder has nothing to say.

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
        // Other tests open files meanwhile, but not thousands.
        #expect(try OpenFile(path, for: .read).descriptor < descriptor + 500)
    }
    #endif
}
