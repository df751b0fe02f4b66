import Foundation
import Testing
@testable import CassetteModel
@testable import CassetteStore

@Suite struct UnnamedFileTests {
    private func folder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("wiretape-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    @Test func whatWasWrittenIsReadFromAFileWithoutAName() throws {
        let folder = try self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = try UnnamedFile(in: folder.path)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        try Array("one".utf8).withUnsafeBytes { try file.write($0, at: 0) }
        try Array("two".utf8).withUnsafeBytes { try file.write($0, at: 3) }
        #expect(try file.read(1..<6) == Array("netwo".utf8))
        #expect(throws: CassetteError.self) { try file.read(4..<7) }
    }

    @Test func aFolderThatIsNotThereIsSaid() throws {
        let folder = try self.folder().path + "/none"
        let error = #expect(throws: CassetteError.self) { try UnnamedFile(in: folder) }
        #expect(error?.message.contains(folder) == true)
    }
}
