import Foundation
import Testing

@testable import WiretapeCLI

@Suite struct RunFolderTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    @Test func itIsAmongTheTemporaryFilesForTheUserAlone() throws {
        let run = try RunFolder(environment: ["TMPDIR": self.folder.path])
        defer { run.remove() }
        #expect(run.path.hasPrefix(self.folder.path + "/wiretape-"))
        #expect(try FileManager.default.attributesOfItem(atPath: run.path)[.posixPermissions] as? Int == 0o700)
        let other = try RunFolder(environment: ["TMPDIR": self.folder.path])
        defer { other.remove() }
        #expect(other != run)
    }

    @Test(arguments: [[:], ["TMPDIR": ""]]) func withoutAWordItIsWhereTheSystemHasThem(environment: [String: String]) throws {
        let run = try RunFolder(environment: environment)
        defer { run.remove() }
        #expect(run.path.hasPrefix("/tmp/wiretape-"))
    }

    @Test func nothingOfItIsLeft() throws {
        let run = try RunFolder(environment: ["TMPDIR": self.folder.path])
        for name in ["a", ".hidden", "trust/b", "trust/deeper/c"] {
            let url = URL(fileURLWithPath: "\(run.path)/\(name)")
            try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data([1]).write(to: url)
        }
        run.remove()
        #expect(try self.folder.names() == [])
    }

    @Test func whatALinkLeadsToStays() throws {
        try self.folder.write([1], to: "kept/file")
        let run = try RunFolder(environment: ["TMPDIR": self.folder.path])
        try FileManager.default.createSymbolicLink(atPath: "\(run.path)/link", withDestinationPath: self.folder.file("kept"))
        run.remove()
        #expect(try self.folder.names() == ["kept"] && self.folder.names(in: "kept") == ["file"])
    }

    @Test func aPlaceThatIsNoFolderIsNamedWithWhatToDo() throws {
        let file = try self.folder.write([1], to: "file")
        let message = trustProblem { _ = try RunFolder(environment: ["TMPDIR": file]) }
        #expect(message?.contains("\"\(file)\"") == true && message?.contains("set TMPDIR") == true)
    }
}
