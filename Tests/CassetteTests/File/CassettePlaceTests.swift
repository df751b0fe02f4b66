import Platform
import TapeTestSupport
import Testing
@testable import CassetteModel
@testable import CassetteStore

@Suite struct CassettePlaceTests {
    @Test func aFileOfNoBytesIsThere() throws {
        let folder = try TemporaryFolder()
        #expect(!CassettePlace.exists(folder.file("a.json")))
        #expect(CassettePlace.exists(try folder.write([], to: "a.json")), "nobody records over it as if there were none")
    }

    @Test func whateverBearsTheNameIsThere() throws {
        let folder = try TemporaryFolder()
        #expect(!CassettePlace.exists(folder.file("a.json")))
        try folder.write([], to: "a.json")
        #expect(CassettePlace.exists(folder.file("a.json")))
        #expect(CassettePlace.exists(folder.path))
        #expect(symlink("nowhere", folder.file("link.json")) == 0)
        #expect(CassettePlace.exists(folder.file("link.json")), "a dangling link is not nothing")
    }

    @Test func aNewOneTakesThePlaceOfTheOld() throws {
        let folder = try TemporaryFolder()
        try folder.write([1], to: "a.json")
        try folder.write([2], to: "a.new.json")
        try CassettePlace.replace(folder.file("a.json"), with: folder.file("a.new.json"))
        #expect(try folder.read("a.json") == [2])
        #expect(try folder.names() == ["a.json"])
    }

    @Test func aReplacementThatFailsSaysWhereTheRecordingIs() throws {
        let folder = try TemporaryFolder()
        let error = #expect(throws: CassetteError.self) {
            try CassettePlace.replace(folder.file("none/a.json"), with: folder.file("a.new.json"))
        }
        #expect(error?.code == .unwritable)
        #expect(error?.message.contains("a.new.json") == true)
    }

    @Test func recordingsBesideShareTheFolderOfBodies() throws {
        let folder = try TemporaryFolder()
        for name in ["a", "a.json", "a.new.json", "a.new-7.json", "b.json", "a.old.json"] { try folder.write([], to: name) }
        #expect(
            CassettePlace.sharingBodies(with: folder.file("a.json")) == ["a", "a.new.json", "a.new-7.json"].map { folder.file($0) })
        #expect(CassettePlace.sharingBodies(with: folder.file("b.json")) == [])
    }

    @Test func freeNamesCountUpToAHundred() throws {
        let folder = try TemporaryFolder()
        #expect(try CassettePlace.freeName(beside: folder.file("a.json")) == folder.file("a.new.json"))
        #expect(try CassettePlace.freeName(beside: folder.file("a")) == folder.file("a.new.json"))
        try folder.write([], to: "a.new.json")
        #expect(try CassettePlace.freeName(beside: folder.file("a.json")) == folder.file("a.new-2.json"))
        for number in 2...100 { try folder.write([], to: "a.new-\(number).json") }
        #expect(throws: CassetteError.self) { try CassettePlace.freeName(beside: folder.file("a.json")) }
    }

    @Test func aNameIsTakenOnlyWhereItIsFree() throws {
        let folder = try TemporaryFolder()
        try folder.write([1], to: ".a.json.merge")
        try CassettePlace.take(folder.file("a.json"), with: folder.file(".a.json.merge"))
        #expect(try folder.names() == ["a.json"])
        try folder.write([2], to: ".a.json.merge")
        #expect(throws: CassetteError.self) { try CassettePlace.take(folder.file("a.json"), with: folder.file(".a.json.merge")) }
        #expect(try folder.read("a.json") == [1])
        #expect(try folder.names() == [".a.json.merge", "a.json"])
    }
}
