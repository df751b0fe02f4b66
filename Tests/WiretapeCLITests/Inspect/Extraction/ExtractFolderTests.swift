import Foundation
import Testing

@testable import CassetteTools
@testable import WiretapeCLI

@Suite struct ExtractFolderTests {
    private let temporary: TemporaryFolder
    private let contents = BodyContents(Array("new".utf8))

    init() throws { self.temporary = try TemporaryFolder() }

    private func folder(overwrites: Bool = false) throws -> ExtractFolder {
        try ExtractFolder(self.temporary.file("out"), overwrites: overwrites)
    }

    private func message(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch {
            return (error as? InspectError)?.message
        }
    }

    @Test func theFolderIsMade() throws {
        #expect(try self.folder().write("a.txt", self.contents) == self.temporary.file("out/a.txt"))
        #expect(try self.temporary.read("out/a.txt") == Array("new".utf8))
    }

    @Test func whatIsThereStaysUnlessAskedFor() throws {
        try self.temporary.write("old".utf8, to: "out/a.txt")
        let path = self.temporary.file("out/a.txt")
        #expect(
            self.message { try self.folder().write("a.txt", self.contents) }
                == "\"\(path)\" already exists: pass --overwrite, or choose another folder.")
        #expect(try self.temporary.read("out/a.txt") == Array("old".utf8))
        try self.folder(overwrites: true).write("a.txt", self.contents)
        #expect(try self.temporary.read("out/a.txt") == Array("new".utf8))
    }

    @Test(arguments: [false, true]) func nothingIsWrittenThroughALink(overwrites: Bool) throws {
        try self.temporary.write("precious".utf8, to: "precious")
        try self.temporary.write([], to: "out/b")
        for (link, target) in [("a.txt", "precious"), ("none.txt", "none")] {
            try FileManager.default.createSymbolicLink(
                atPath: self.temporary.file("out/\(link)"), withDestinationPath: self.temporary.file(target))
            let message = self.message { try self.folder(overwrites: overwrites).write(link, self.contents) }
            #expect((message == nil) == overwrites)
        }
        #expect(try self.temporary.read("precious") == Array("precious".utf8))
        #expect(!self.temporary.exists("none"))
    }

    @Test func halfABodyDoesNotStay() throws {
        let folder = try self.folder()
        #expect(throws: TestProblem.self) {
            _ = try folder.write("a.txt") { write in
                try [1, 2].withUnsafeBytes(write)
                throw TestProblem("the rest is missing")
            }
        }
        #expect(try self.temporary.names(in: "out") == [])
    }

    @Test func aFolderThatCannotBeSaysWhy() throws {
        try self.temporary.write([], to: "file")
        #expect(
            self.message { _ = try ExtractFolder(self.temporary.file("file"), overwrites: true) }?.hasSuffix(
                " is not a folder: choose another one.") == true)
        let deep = self.temporary.file("none/out")
        #expect(
            self.message { _ = try ExtractFolder(deep, overwrites: false) }
                == "\"\(deep)\" cannot be created, because its parent folder does not exist: create that first.")
    }
}
