import Foundation
import Testing

@testable import WiretapeCLI

@Suite struct TrustFolderTests {
    private static let day = 24 * 3600
    private let temporary: TemporaryFolder
    private let folder: TrustFolder

    init() throws {
        self.temporary = try TemporaryFolder()
        self.folder = TrustFolder(path: self.temporary.file("trust"))
    }

    private func make(_ name: String, _ bytes: [UInt8] = [1], mode: mode_t = 0o644, now: Int = time(nil)) throws -> String {
        try self.folder.file(name, mode: mode, now: now) { bytes }
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    private func age(_ name: String, days: Int) throws {
        let date = Date(timeIntervalSinceNow: -Double(days * Self.day))
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: self.folder.file(name))
    }

    @Test func aFileIsMadeOnceInAFolderOfTheUsersOwn() throws {
        let path = try self.make("bundle-1.pem", mode: 0o600)
        #expect(path == self.temporary.file("trust/bundle-1.pem"))
        #expect(try self.mode(self.folder.path) == 0o700 && self.mode(path) == 0o600)
        #expect(try self.make("bundle-1.pem", [2]) == path)
        #expect(try self.temporary.read("trust/bundle-1.pem") == [1])
    }

    @Test func whatIsAboveTheFolderIsMadeToo() throws {
        let folder = TrustFolder(path: self.temporary.file("a/b/trust"))
        #expect(try folder.file("bundle-1.pem") { [1] } == self.temporary.file("a/b/trust/bundle-1.pem"))
        #expect(try self.mode(self.temporary.file("a")) == 0o700)
    }

    @Test func anEmptyFileIsMadeAnew() throws {
        try self.temporary.write([], to: "trust/bundle-1.pem")
        _ = try self.make("bundle-1.pem")
        #expect(try self.temporary.read("trust/bundle-1.pem") == [1])
    }

    @Test func whatNobodyAskedForInAMonthGoesWhenAnotherIsMade() throws {
        for name in ["bundle-1.pem", "java-1.p12", "wgetrc-1", "bundle-2.pem", "own"] { _ = try self.make(name) }
        for name in ["bundle-1.pem", "java-1.p12", "wgetrc-1", "own"] { try self.age(name, days: 31) }
        try self.age("bundle-2.pem", days: 29)
        _ = try self.make("bundle-2.pem")
        #expect(try self.temporary.names(in: "trust").count == 5)
        _ = try self.make("bundle-3.pem")
        #expect(try self.temporary.names(in: "trust") == ["bundle-2.pem", "bundle-3.pem", "own"])
    }

    @Test func whatIsAskedForStaysYoung() throws {
        _ = try self.make("bundle-1.pem")
        try self.age("bundle-1.pem", days: 31)
        _ = try self.make("bundle-1.pem")
        _ = try self.make("bundle-2.pem")
        #expect(try self.temporary.names(in: "trust") == ["bundle-1.pem", "bundle-2.pem"])
    }

    @Test func aFolderThatCannotBeMadeIsNamed() throws {
        try self.temporary.write([1], to: "file")
        let folder = TrustFolder(path: self.temporary.file("file/trust"))
        let message = trustProblem { _ = try folder.file("bundle-1.pem") { [1] } }
        #expect(message == "cannot create the folder \"\(folder.path)\" (Not a directory): name another with --ca-dir.")
    }

    @Test func whatCannotBeMadeLeavesNothing() throws {
        #expect(trustProblem { _ = try self.folder.file("java-1.p12") { () throws(TrustError) in throw TrustError("no") } } == "no")
        #expect(!self.temporary.exists("trust"))
    }
}
