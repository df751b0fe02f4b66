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

    private func mode(_ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: self.folder.file(name))[.posixPermissions] as? Int
    }

    @Test(arguments: [(0o600, 0o600), (0o640, 0o640), (0o644, 0o644), (0o444, 0o644)])
    func nobodyMayReadTheOutputWhoMayNotReadTheCassette(cassette: Int, output: Int) throws {
        let source = try self.folder.write([1], to: "pets.json")
        try FileManager.default.setAttributes([.posixPermissions: cassette], ofItemAtPath: source)
        // The umask of the tests may be stricter.
        for name in ["old.har", "new.har"] {
            if name == "old.har" {
                try self.folder.write([2], to: name)
                try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: self.folder.file(name))
            }
            let file = try OutputFile(path: self.folder.file(name), from: source, keepsOld: true)
            let fresh = try #require(try self.folder.names().first { $0.hasPrefix(name) && $0.hasSuffix(".new") })
            #expect(try #require(try self.mode(fresh)) & ~output == 0)
            try file.finish()
            #expect(try #require(try self.mode(name)) & ~(output | cassette) == 0)
        }
    }

    @Test func anOutputOfARunIsAsPrivateAsTheCassetteThatItWrote() throws {
        let file = try OutputFile(path: self.folder.file("report.json"), from: self.folder.file("pets.json"), removesOld: true)
        let source = try self.folder.write([1], to: "pets.json")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: source)
        try file.finish()
        #expect(try self.mode("report.json") == 0o600)
    }

    @Test func whatAKilledProcessLeftIsRemovedAndWhatALiveOneWritesStays() throws {
        let path = self.folder.file("pets.har")
        for name in ["pets.har.1.new", "pets.har.x.new", "pets.har.2.news", "other.har.3.new"] { try self.folder.write([1], to: name) }
        let live = open(self.folder.file("pets.har.4.new"), O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        defer { close(live) }
        #expect(flock(live, LOCK_EX | LOCK_NB) == 0)
        let file = try OutputFile(path: path, keepsOld: true)
        #expect(self.folder.exists("pets.har.1.new"))
        try file.finish()
        #expect(
            try self.folder.names().sorted() == [
                "other.har.3.new", "pets.har", "pets.har.2.news", "pets.har.4.new", "pets.har.x.new",
            ])
    }

    @Test func replacingAWholeFileRemovesWhatAKilledProcessLeft() throws {
        try self.folder.write([1], to: "ca.pem.77.new")
        try WholeFile.replace(self.folder.file("ca.pem"), with: [2], mode: 0o600)
        #expect(try self.folder.names() == ["ca.pem"])
    }
}
