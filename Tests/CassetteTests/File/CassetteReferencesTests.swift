import TapeTestSupport
import Testing

@testable import CassetteFormat
@testable import CassetteModel
@testable import CassetteStore
@testable import TapeBytes

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

    @Test func tidyingRemovesOnlyWhatNoOneNames() throws {
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
}
