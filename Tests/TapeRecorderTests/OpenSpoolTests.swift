import CassetteModel
import CassetteStore
import TapeBytes
import TapeTestSupport
import Testing
@testable import TapeRecorder

@Suite struct OpenSpoolTests {
    @Test func itRemembersItsBeginningAndCanBeReadBeforeItsEnd() throws {
        let folder = try TemporaryFolder()
        let spool = OpenSpool(try BodyStore(cassettePath: folder.file("tape.json")).makeSpool(), digest: PortableSHA256())
        let octets = (0..<2000).map { UInt8(truncatingIfNeeded: $0) }
        try spool.write(Array(octets[..<700]))
        try spool.write(Array(octets[700...]))
        #expect(spool.size == 2000)
        #expect(spool.beginning == Array(octets[..<512]))
        #expect(try spool.source.load() == octets)
        let sidecar = try spool.finish(fileExtension: "bin")
        #expect(try folder.read(sidecar.path) == octets)
    }

    @Test func aDiscardedOneIsGone() throws {
        let folder = try TemporaryFolder()
        let spool = OpenSpool(try BodyStore(cassettePath: folder.file("tape.json")).makeSpool(), digest: PortableSHA256())
        try spool.write([1])
        spool.discard()
        #expect(try folder.names(in: "tape.bodies").isEmpty)
    }
}
