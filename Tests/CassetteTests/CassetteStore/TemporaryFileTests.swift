@testable import CassetteModel
@testable import CassetteStore
import Foundation
import TapeTestSupport
import Testing

struct TemporaryFileTests {
    private struct Stopped: Error {}

    @Test func itIsThereWithItsBytesUntilNoOneHoldsIt() throws {
        let folder = try TemporaryFolder()
        var file: TemporaryFile? = try TemporaryFile(in: folder.path) { write in
            for piece in [[1, 2], [3]] as [[UInt8]] { try piece.withUnsafeBytes(write) }
        }
        #expect(file?.size == 3)
        let names = try folder.names()
        #expect(names.count == 1)
        #expect(try folder.read(names[0]) == [1, 2, 3])
        #expect(try FileManager.default.attributesOfItem(atPath: folder.file(names[0]))[.posixPermissions] as? Int == 0o600)
        var bytes: [UInt8] = [0, 0]
        let count = try bytes.withUnsafeMutableBytes { try file?.read(into: $0, at: 1) }
        #expect(count == 2 && bytes == [2, 3])
        file = nil
        #expect(try folder.names() == [])
    }

    @Test func nothingIsLeftOfOneThatFailed() throws {
        let folder = try TemporaryFolder()
        #expect(throws: Stopped.self) {
            try TemporaryFile(in: folder.path) { write in
                try [UInt8]([1]).withUnsafeBytes(write)
                throw Stopped()
            }
        }
        #expect(try folder.names() == [])
    }

    @Test func aFolderThatIsNotThereIsNamed() throws {
        let folder = try TemporaryFolder()
        #expect { try TemporaryFile(in: folder.file("none")) { _ in } } throws: { error in
            let error = error as? CassetteError
            return error?.code == .notFound && error?.message.contains("none/wiretape-") == true
        }
    }

    @Test func theSystemHasAPlaceForIt() throws {
        let file = try TemporaryFile { _ in }
        #expect(FileManager.default.fileExists(atPath: file.path) && file.size == 0)
    }
}

@Suite struct UnnamedFileTests {
    private func folder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("wiretape-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    @Test func unnamedFileReturnsItsBytes() throws {
        let folder = try self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = try UnnamedFile(in: folder.path)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        try Array("one".utf8).withUnsafeBytes { try file.write($0, at: 0) }
        try Array("two".utf8).withUnsafeBytes { try file.write($0, at: 3) }
        #expect(try file.read(1..<6) == Array("netwo".utf8))
        #expect(throws: CassetteError.self) { try file.read(4..<7) }
    }

    @Test func aMissingFolderIsReported() throws {
        let folder = try self.folder().path + "/none"
        let error = #expect(throws: CassetteError.self) { try UnnamedFile(in: folder) }
        #expect(error?.message.contains(folder) == true)
    }
}
