@testable import CassetteModel
@testable import CassetteStore
import Foundation
import TapeTestSupport
import Testing

@Suite struct OpenFolderTests {
    private let folder = try! TemporaryFolder()  // The test cannot run without its folder.

    @Test func makesFoldersAndThoseAboveThem() throws {
        try OpenFolder.create(self.folder.file("a/b/c"))
        try OpenFolder.create(self.folder.file("a/b/c"))
        #expect(try self.folder.names(in: "a/b") == ["c"])
        try self.folder.write([], to: "file")
        #expect(cassetteError { try OpenFolder.create(self.folder.file("file/x")) } != nil)
    }

    @Test(arguments: ["sub/..", "sub/../in", "./x/../../y", "a//b/../c", "in/../new/../z", "sub/../../sub"])
    func aDetourThroughAFolderThatDoesNotExistCreatesNothing(path: String) throws {
        try OpenFolder.create(self.folder.file("in"))
        let before = try FileManager.default.subpathsOfDirectory(atPath: self.folder.path)
        let error = cassetteError { try OpenFolder.create(self.folder.file(path)) }
        #expect(error?.code == .unsafePath && error?.message.contains("which does not exist") == true, "\(String(describing: error))")
        #expect(try FileManager.default.subpathsOfDirectory(atPath: self.folder.path) == before)
    }

    @Test(arguments: ["in/..", "in/../new", "a//b", "./in/./c", "in/deep/../other"])
    func otherSpellingsOfAPathAreCreated(path: String) throws {
        try OpenFolder.create(self.folder.file("in/deep"))
        try OpenFolder.create(self.folder.file(path))
        #expect(FileManager.default.fileExists(atPath: self.folder.file(path)))
    }

    @Test func renamesRemovesAndLists() throws {
        for name in ["x", "y", "음식"] { try self.folder.write([1], to: name) }
        let folder = try OpenFolder(self.folder.path)
        try folder.rename("x", to: "y")
        try folder.remove("음식")
        try folder.remove("gone")
        #expect(folder.contains("y") == true)
        #expect(folder.contains("x") == false)
        for _ in 0..<2 {
            var names: [String] = []
            try folder.forEachName { names.append($0) }
            #expect(names == ["y"])
        }
        try folder.synchronize()
    }

    @Test func followsNoLinkInsideItself() throws {
        try OpenFolder.create(self.folder.file("real"))
        try FileManager.default.createSymbolicLink(atPath: self.folder.file("link"), withDestinationPath: self.folder.file("real"))
        let folder = try OpenFolder(self.folder.path)
        _ = try OpenFolder("real", in: folder)
        #expect(cassetteError { _ = try OpenFolder("link", in: folder) }?.code == .unsafePath)
        #expect(cassetteError { _ = try OpenFolder("..", in: folder) }?.code == .unsafePath)
        #expect(cassetteError { _ = try OpenFolder("none", in: folder) }?.code == .notFound)
    }
}

@Suite struct FileLocationTests {
    @Test func takesAPathApart() {
        #expect(FileLocation("pets.json") == FileLocation("./pets.json"))
        #expect(FileLocation("/a/b/c.json").folder == "/a/b")
        #expect(FileLocation("/c.json").folder == "/")
        #expect(FileLocation("/c.json").name == "c.json")
        #expect(FileLocation("/c.json").sibling("d") == "/d")
        #expect(FileLocation("a/c.json").sibling("d") == "a/d")
    }

    @Test func namesTheFolderOfBodies() {
        #expect(FileLocation("a/pets.json").bodiesName == "pets.bodies")
        #expect(FileLocation("a/pets").bodiesName == "pets.bodies")
        #expect(FileLocation("a/.json").bodiesName == ".json.bodies")
    }

    @Test(arguments: ["", ".", "..", "a/b", "/", "a\\b", "a\0", "a\n", String(repeating: "x", count: 256)])
    func aPlainNameLeadsNowhereElse(_ name: String) {
        #expect(!FileLocation.isPlainName(name))
    }

    @Test func usualNamesArePlain() {
        for name in ["a", "..a", "5f.jpg", ".part-1", "음식.png"] { #expect(FileLocation.isPlainName(name)) }
    }
}
