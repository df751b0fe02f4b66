import CassetteModel
import Foundation
import TapeTestSupport
import Testing
@testable import TapeProxy

@Suite struct CassetteFolderTests {
    private let temporary: TemporaryFolder
    private let folder: CassetteFolder

    init() throws {
        self.temporary = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: self.temporary.file("in/shop"), withIntermediateDirectories: true)
        try self.temporary.write([], to: "outside.json")
        self.folder = try CassetteFolder(self.temporary.file("in"))
    }

    @Test(arguments: ["pets.json", "shop/pets.json", "보리.json", "a b.json"]) func namesInsideAreTaken(_ name: String) throws {
        #expect(try self.folder.cassette(name) == self.folder.path + "/" + name)
    }

    @Test(arguments: [
        "", "/etc/passwd.json", "../outside.json", "shop/../../outside.json", "./pets.json", "shop//pets.json", "shop/./pets.json", "..",
        "pets", "pets.txt", "shop", ".json", ".git/x.json", "shop/.pets.json", "a\0.json", "a\n.json", "a\\b.json", "shop/",
        "shop.json/x.json",
        String(repeating: "x", count: 5000) + ".json", String(repeating: "x", count: 400) + ".json",
    ])
    func namesThatLeadElsewhereAreRefused(_ name: String) throws {
        try self.temporary.write([], to: "in/shop.json")
        let error = #expect(throws: CassetteError.self) { try self.folder.cassette(name) }
        #expect(error?.code == .unsafePath, "\(error?.message ?? "")")
        #expect((error?.message.utf8.count ?? 0) < 2000)
    }

    @Test func linksAreRefusedWhereverTheyLead() throws {
        let manager = FileManager.default
        try manager.createSymbolicLink(atPath: self.temporary.file("in/out"), withDestinationPath: self.temporary.path)
        try manager.createSymbolicLink(
            atPath: self.temporary.file("in/link.json"), withDestinationPath: self.temporary.file("outside.json"))
        try manager.createSymbolicLink(
            atPath: self.temporary.file("in/dangling.json"), withDestinationPath: self.temporary.file("new.json"))
        for name in ["out/outside.json", "out/in/pets.json", "link.json", "dangling.json", "out/\u{301}x.json"] {
            let error = #expect(throws: CassetteError.self) { try self.folder.cassette(name) }
            #expect(error?.code == .unsafePath, "\(name)")
        }
    }

    @Test func aFolderOfACassettesNameIsNone() throws {
        try FileManager.default.createDirectory(atPath: self.temporary.file("in/dir.json"), withIntermediateDirectories: false)
        #expect(throws: CassetteError.self) { try self.folder.cassette("dir.json") }
    }

    @Test func aMissingFolderIsTold() throws {
        #expect(throws: CassetteError.self) { try CassetteFolder(self.temporary.file("none")) }
        #expect(throws: CassetteError.self) { try CassetteFolder(self.temporary.file("outside.json")) }
        let error = #expect(throws: CassetteError.self) { try self.folder.cassette("none/pets.json") }
        #expect(error?.code == .notFound && error?.message.contains("make it first") == true)
    }

    @Test func theFolderItselfMayBeALink() throws {
        try FileManager.default.createSymbolicLink(atPath: self.temporary.file("alias"), withDestinationPath: "in")
        #expect(try CassetteFolder(self.temporary.file("alias")) == self.folder)
    }
}
