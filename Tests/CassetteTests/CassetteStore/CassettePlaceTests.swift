@testable import CassetteFormat
@testable import CassetteModel
@testable import CassetteStore
import Foundation
import Platform
@testable import TapeBytes
import TapeTestSupport
import Testing

@Suite struct CassettePlaceTests {
    @Test func aFileOfNoBytesIsThere() throws {
        let folder = try TemporaryFolder()
        #expect(!CassettePlace.exists(folder.file("a.json")))
        #expect(CassettePlace.exists(try folder.write([], to: "a.json")), "nobody records over it as if there were none")
    }

    @Test func anyFileWithTheNameExists() throws {
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

    @Test func adjacentRecordingsShareTheFolderOfBodies() throws {
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

@Suite struct CassetteLockTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        self.folder = try TemporaryFolder()
        self.path = self.folder.file("a.json")
        _ = try CassetteAppender.create(self.path, recorder: "r").finish()
    }

    @Test func keepsRecordersOffUntilItIsReleased() throws {
        let lock = try CassetteLock(self.path)
        #expect(throws: CassetteError.self) { try CassetteLock(self.path) }
        let error = #expect(throws: CassetteError.self) { try CassetteAppender.open(self.path, recorder: "r") }
        #expect(error?.code == .inUse)
        withExtendedLifetime(lock) {}
    }

    @Test func lockIsFreeAgainAfterItsHolder() throws {
        do { _ = try CassetteLock(self.path) }
        _ = try CassetteLock(self.path)
    }

    @Test func cassetteBehindALinkIsFound() throws {
        #expect(symlink("a.json", self.folder.file("link.json")) == 0)
        let lock = try CassetteLock(self.folder.file("link.json"))
        #expect(throws: CassetteError.self) { try CassetteLock(self.path) }
        withExtendedLifetime(lock) {}
    }

    @Test func aCassetteThatIsNotThereIsAnError() {
        let error = #expect(throws: CassetteError.self) { try CassetteLock(self.folder.file("none.json")) }
        #expect(error?.code == .notFound)
    }
}

@Suite struct CassetteReferencesTests {
    private let digest = String(repeating: "0a", count: 32)

    private func interaction(_ content: BodyContent, original: Sidecar? = nil) -> Interaction {
        Interaction(
            id: 1, started: Timestamp(microseconds: 1), request: RecordedRequest(method: "GET", url: "http://h/"),
            response: RecordedResponse(status: 200, body: Body(size: 3, content: content, original: original)))
    }

    private func write(_ interaction: Interaction, to path: String) throws {
        var writer = JSONWriter()
        writer.removeAll(baseDepth: 2)
        InteractionEncoder.encode(interaction, into: &writer)
        let appender = try CassetteAppender.create(path, recorder: "test")
        try appender.append([writer.bytes])
        try appender.sync()
    }

    @Test func sidecarsOriginalsAndTheRawSpoolAreSeen() throws {
        let folder = try TemporaryFolder()
        let sidecar = Sidecar(path: "a.bodies/\(self.digest).jpg", size: 3, sha256: self.digest)
        let original = Sidecar(path: "a.bodies/\(self.digest).gz", size: 3, sha256: self.digest)
        try self.write(self.interaction(.file(sidecar), original: original), to: folder.file("a.json"))
        var references = try CassetteReferences(familyOf: folder.file("a.json"))
        #expect(references.sidecars == [sidecar.path, original.path])
        #expect(!references.usesRawSpool)
        let slice = RawSlice(path: "a.bodies/undeveloped.raw", offset: 0, size: 3, crc32: 1)
        try self.write(self.interaction(.raw(slice)), to: folder.file("a.new.json"))
        references = try CassetteReferences(familyOf: folder.file("a.json"))
        #expect(references.usesRawSpool)
        #expect(references.sidecars.count == 2)
    }

    @Test func aMemberThatCannotBeReadForbidsAnyJudgement() throws {
        let folder = try TemporaryFolder()
        try self.write(self.interaction(.empty), to: folder.file("a.json"))
        try folder.write(Array("not a cassette".utf8), to: "a.new-2.json")
        #expect(throws: CassetteError.self) { _ = try CassetteReferences(familyOf: folder.file("a.json")) }
    }

    @Test func tidyingRemovesOnlyUnreferencedFiles() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.json")
        let store = try BodyStore(cassettePath: path)
        var sidecars: [Sidecar] = []
        for letter in ["x", "y"] {
            let spool = try store.makeSpool()
            try spool.write(Array(letter.utf8))
            sidecars.append(try spool.finish(sha256: String(repeating: letter == "x" ? "01" : "02", count: 32), ext: "txt"))
        }
        _ = try store.rawSpool().append(Array("raw".utf8))
        try self.write(self.interaction(.file(sidecars[0])), to: folder.file("a.new.json"))
        try self.write(self.interaction(.empty), to: path)
        try CassetteReferences(familyOf: path).tidy(store)
        #expect(try folder.names(in: "a.bodies").map { String($0.prefix(2)) } == ["01"])
    }
    /// Writes a body of a cassette.
    private func writeBody(_ store: BodyStore) throws {
        let spool = try store.makeSpool()
        try spool.write([120])
        _ = try spool.finish(sha256: String(repeating: "01", count: 32), ext: "txt")
    }

    @Test func aCassetteThatWasRenamedKeepsItsBodies() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.json")
        let store = try BodyStore(cassettePath: path)
        try self.writeBody(store)
        #expect(throws: CassetteError.self) { _ = try CassetteReferences(familyOf: path) }
        #expect(try CassetteReferences(familyOf: path, mayBeMissing: true).tidy(store) == 1)
    }

    @Test func aFolderThatWasMovedIsNotTidied() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.json")
        let store = try BodyStore(cassettePath: path)
        try self.writeBody(store)
        try self.write(self.interaction(.empty), to: path)
        try FileManager.default.moveItem(atPath: folder.file("a.bodies"), toPath: folder.file("b.bodies"))
        #expect(try CassetteReferences(familyOf: path).tidy(store) == 0)
        try FileManager.default.createDirectory(atPath: folder.file("a.bodies"), withIntermediateDirectories: false)
        #expect(try CassetteReferences(familyOf: path).tidy(store) == 0)
        #expect(try folder.names(in: "b.bodies").count == 1)
    }

    @Test(arguments: [234, 250, 255, 300])
    func aLongNameIsRefusedForItsLength(_ length: Int) throws {
        let folder = try TemporaryFolder()
        let name = String(repeating: "a", count: length) + ".json"
        let error = #expect(throws: CassetteError.self) { try CassettePlace.checkName(folder.file(name)) }
        #expect(error?.message.contains("its name has \(length + 5) bytes") == true)
    }

    @Test func aFolderIsNoName() throws {
        let folder = try TemporaryFolder()
        let error = #expect(throws: CassetteError.self) { try CassettePlace.checkName(folder.file("a.json/")) }
        #expect(error?.message.contains("names a folder") == true)
    }

    @Test func bodiesAreAsPrivateAsTheirCassette() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.json")
        try self.write(self.interaction(.empty), to: path)
        #expect(chmod(path, 0o644) == 0)
        try self.writeBody(BodyStore(cassettePath: path))
        #expect(chmod(path, 0o600) == 0)
        try self.writeBody(BodyStore(cassettePath: path))
        func mode(_ name: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: folder.file(name))[.posixPermissions] as? Int
        }
        let body = try #require(try folder.names(in: "a.bodies").first)
        #expect(try mode("a.bodies") == 0o700)
        #expect(try mode("a.bodies/\(body)") == 0o600)
    }
}
