import Foundation
import Testing

@testable import WiretapeCLI
import TapeTestSupport

@Suite struct WholeFileTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func mode(_ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: self.folder.file(name))[.posixPermissions] as? Int
    }

    @Test(arguments: [0, 1, 300_000])
    func writtenBytesAreReadBack(count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try WholeFile.replace(self.folder.file("x"), with: bytes, mode: 0o644)
        #expect(try WholeFile.read(self.folder.file("x")) == bytes)
    }

    @Test func theModeIsTheGivenOneAndNothingElseIsLeft() throws {
        try self.folder.write([1, 2, 3], to: "x")
        try WholeFile.replace(self.folder.file("x"), with: [4], mode: 0o600)
        #expect(try self.mode("x") == 0o600)
        try WholeFile.replace(self.folder.file("x"), with: [5], mode: 0o666)
        #expect(try self.mode("x") == 0o666, "whatever the mask says")
        #expect(try self.folder.read("x") == [5])
        #expect(try self.folder.names() == ["x"])
    }

    @Test func aReaderOfTheOldFileKeepsIt() throws {
        try self.folder.write([1, 2, 3], to: "x")
        let old = try #require(FileHandle(forReadingAtPath: self.folder.file("x")))
        try WholeFile.replace(self.folder.file("x"), with: [4], mode: 0o644)
        #expect(try old.readToEnd() == Data([1, 2, 3]))
    }

    @Test func aMissingFileAndAMissingFolderAreNamed() throws {
        let path = self.folder.file("none/x")
        let read = trustProblem { _ = try WholeFile.read(path) }
        #expect(read == "cannot read \"\(path)\" (No such file or directory): check the path.")
        let written = trustProblem { try WholeFile.replace(path, with: [1], mode: 0o644) }
        #expect(written == "cannot write \"\(path)\" (No such file or directory): check the path.")
    }

    @Test func pathThatIsNoFileIsNotRead() throws {
        #expect(trustProblem { _ = try WholeFile.read(self.folder.path) }?.contains("is not a file") == true)
        #expect(mkfifo(self.folder.file("pipe"), 0o600) == 0)
        #expect(trustProblem { _ = try WholeFile.read(self.folder.file("pipe")) }?.contains("is not a file") == true)
        #expect(trustProblem { _ = try WholeFile.read("") } != nil)
        #expect(trustProblem { _ = try WholeFile.read("a\0b") } != nil)
    }

    @Test func aFileOfAnotherKindOfSizeIsNotRead() throws {
        let path = try self.folder.write([], to: "large")
        #expect(truncate(path, off_t(WholeFile.limit + 1)) == 0)
        #expect(trustProblem { _ = try WholeFile.read(path) }?.contains("is it the right file?") == true)
    }

    @Test func twoNamesOfOneFileAreTheSame() throws {
        let path = try self.folder.write([1], to: "x")
        try self.folder.write([1], to: "y")
        try FileManager.default.createSymbolicLink(atPath: self.folder.file("link"), withDestinationPath: path)
        #expect(WholeFile.areSame(path, self.folder.file("link")))
        #expect(!WholeFile.areSame(path, self.folder.file("y")))
        #expect(!WholeFile.areSame(path, self.folder.file("none")))
    }
}
