import CassetteModel
import CassetteStore
import TapeBytes
import TapeTestSupport
import Testing
@testable import TapeRecorder

@Suite struct BodyStoreSinkTests {
    private struct Broken: Error {}

    @Test func piecesBecomeOneFileNamedByItsDigest() throws {
        let folder = try TemporaryFolder()
        var sink = BodyStoreSink(store: try BodyStore(cassettePath: folder.file("tape.json")), digest: { PortableSHA256() })
        let sidecar = try sink.store(fileExtension: "txt") { piece in
            for text in ["a", "b", "c"] { try Array(text.utf8).withUnsafeBytes { try piece($0) } }
        }
        #expect(sidecar.path == "tape.bodies/ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad.txt")
        #expect(sidecar.size == 3)
        #expect(try folder.read(sidecar.path) == Array("abc".utf8))
    }

    @Test func aWriterThatFailsLeavesNothing() throws {
        let folder = try TemporaryFolder()
        var sink = BodyStoreSink(store: try BodyStore(cassettePath: folder.file("tape.json")), digest: { PortableSHA256() })
        #expect(throws: Broken.self) {
            try sink.store(fileExtension: "txt") { piece in
                try [UInt8(1)].withUnsafeBytes { try piece($0) }
                throw Broken()
            }
        }
        #expect(try folder.names(in: "tape.bodies").isEmpty)
    }
}
