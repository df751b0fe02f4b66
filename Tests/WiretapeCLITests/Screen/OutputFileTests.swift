import Foundation
import CassetteModel
import Testing
@testable import WiretapeCLI
import TapeTestSupport

@Suite struct OutputFileTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func write(_ bytes: [UInt8], to file: OutputFile) throws { try bytes.withUnsafeBytes { try file.write($0) } }

    private func error(_ body: () throws -> Void) -> CassetteError? {
        do {
            try body()
            return nil
        } catch { return error as? CassetteError }
    }

    @Test func writtenBytesAreInOrderAfterTheEnd() throws {
        let file = try OutputFile(path: self.folder.file("x"))
        var wanted: [UInt8] = []
        for number in 0..<100 {
            let piece = [UInt8](repeating: UInt8(number), count: number * 100)
            wanted += piece
            try self.write(piece, to: file)
        }
        try file.finish()
        #expect(try self.folder.read("x") == wanted)
    }

    @Test func aFullBlockGoesOutBeforeTheEnd() throws {
        let file = try OutputFile(path: self.folder.file("x"))
        try self.write([1], to: file)
        #expect(try self.folder.read("x") == [])
        try self.write([UInt8](repeating: 2, count: 256 << 10), to: file)
        #expect(try self.folder.read("x").count == 1 + (256 << 10))
    }

    @Test func anOlderLongerFileIsReplaced() throws {
        try self.folder.write([1, 2, 3], to: "x")
        let file = try OutputFile(path: self.folder.file("x"))
        try self.write([4], to: file)
        try file.finish()
        #expect(try self.folder.read("x") == [4])
    }

    @Test func aFileThatCannotBeMadeIsNamed() {
        let path = self.folder.file("none/x.har")
        let error = self.error { _ = try OutputFile(path: path) }
        #expect(error?.code == .unwritable)
        #expect(error?.message == "\"\(path)\" cannot be written (No such file or directory): choose another --output.")
    }

    @Test func theCassetteItselfIsNotOverwrittenUnderAnyName() throws {
        let cassette = try self.folder.write([1, 2, 3], to: "pets.json")
        for path in [cassette, "\(self.folder.path)/./pets.json"] {
            let error = self.error { _ = try OutputFile(path: path, from: cassette) }
            #expect(error?.message == "\"\(path)\" is the cassette itself: choose another --output.")
        }
        #expect(try self.folder.read("pets.json") == [1, 2, 3])
        _ = try OutputFile(path: self.folder.file("pets.har"), from: cassette)
        #expect(self.folder.exists("pets.har"))
    }

    #if os(Linux)
    @Test func aFullDiskIsNamed() throws {
        let file = try OutputFile(path: "/dev/full")
        try self.write([1], to: file)
        #expect(self.error { try file.finish() }?.message == "\"/dev/full\" cannot be written (No space left on device): is its disk full?")
    }
    #endif

    @Test func anOldFileIsKeptUntilTheOutputIsComplete() throws {
        let path = self.folder.file("x")
        try self.folder.write(Array("old".utf8), to: "x")
        do {
            let file = try OutputFile(path: path, keepsOld: true)
            try self.write([UInt8](repeating: 7, count: 1 << 20), to: file)
        }
        #expect(try self.folder.read("x") == Array("old".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: self.folder.path) == ["x"])
        try FileManager.default.createSymbolicLink(atPath: self.folder.file("link"), withDestinationPath: path)
        let file = try OutputFile(path: self.folder.file("link"), keepsOld: true)
        try self.write(Array("new".utf8), to: file)
        try file.finish()
        #expect(try self.folder.read("x") == Array("new".utf8))
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: self.folder.file("link")) == path)
    }
}
