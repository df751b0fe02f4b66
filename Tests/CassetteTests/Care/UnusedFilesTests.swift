import Testing

@testable import CassetteModel
@testable import CassetteStore
@testable import CassetteTools

@Suite struct UnusedFilesTests {
    @Test func whatNobodyNamesIsFound() throws {
        let folder = try CareFolder()
        let used = try folder.sidecar([1], of: "a.json")
        let unused = try folder.sidecar([2], of: "a.json")
        _ = try folder.raw([3], of: "a.json")
        try folder.folder.write([4], to: "a.bodies/notes.txt")
        let path = try folder.write([.care(1, body: .file(used))], to: "a.json")
        let found = try UnusedFiles.find(beside: path, CassetteReferences(familyOf: path))
        #expect(found == [unused.path, "a.bodies/notes.txt", "a.bodies/undeveloped.raw"].sorted())
    }

    @Test func withoutAFolderThereAreNone() throws {
        let folder = try CareFolder()
        let path = try folder.write([.care(1)], to: "a.json")
        #expect(try UnusedFiles.find(beside: path, CassetteReferences(familyOf: path)) == [])
    }
}
