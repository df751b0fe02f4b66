import TapeTestSupport
import Testing

@testable import WiretapeTesting

struct CassetteSnapshotTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    @Test func whatHasComeSinceIsTakenOut() throws {
        try self.folder.write("old", to: "pets.json")
        try self.folder.write("1", to: "pets.bodies/1.png")
        let snapshot = try #require(CassetteSnapshot(of: self.folder.file("pets.json")))
        try self.folder.write("old and new", to: "pets.json")
        try self.folder.write("2", to: "pets.bodies/2.png")
        try snapshot.restore()
        #expect(self.folder.files == ["pets.bodies/1.png", "pets.json"])
        #expect(try self.folder.read("pets.json") == Array("old".utf8))
        #expect(try self.folder.read("pets.bodies/1.png") == Array("1".utf8))
    }

    @Test func folderOfBodiesThatWasNotThereGoes() throws {
        try self.folder.write("old", to: "pets.json")
        let snapshot = try #require(CassetteSnapshot(of: self.folder.file("pets.json")))
        try self.folder.write("2", to: "pets.bodies/2.png")
        try snapshot.restore()
        #expect(try self.folder.names() == ["pets.json"])
    }

    @Test func withoutAFileThereIsNothingToRestore() {
        #expect(CassetteSnapshot(of: self.folder.file("pets.json")) == nil)
    }
}
