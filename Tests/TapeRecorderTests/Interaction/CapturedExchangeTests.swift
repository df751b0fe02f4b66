import CassetteModel
import CassetteRedaction
import CassetteStore
import TapeBytes
import TapeExchange
@testable import TapeRecorder
import TapeTestSupport
import Testing

@Suite struct CapturedBodyTests {
    private let folder: TemporaryFolder
    private let store: BodyStore

    init() throws {
        self.folder = try TemporaryFolder()
        self.store = try BodyStore(cassettePath: self.folder.file("tape.json"))
    }

    @Test func blocksAreReadTogetherUpToALimit() throws {
        let spool = OpenSpool(try self.store.makeSpool(), digest: PortableSHA256())
        try spool.write([1, 2, 3])
        let arrival = Arrival(isChunked: true, pieces: [.init(at: 0, size: 5)])
        let body = try CapturedBody(TapedBody(size: 5, isComplete: false, bytes: [4, 5], isSpilled: true, arrival: arrival), spool)
        #expect(try body.wire(upTo: 5) == WireBody([1, 2, 3, 4, 5], arrival: arrival, isComplete: false))
        #expect(try body.wire(upTo: 4) == nil)
    }

    @Test func otherBytesTakeThePlaceAndTheFileGoesAway() throws {
        let spool = OpenSpool(try self.store.makeSpool(), digest: PortableSHA256())
        var body = try CapturedBody(TapedBody(size: 2, isComplete: true, bytes: [4, 5], isSpilled: true), spool)
        body.take(WireBody([9]))
        #expect(try body.wire(upTo: 1) == WireBody([9]))
        #expect(try self.folder.names(in: "tape.bodies").isEmpty)
    }

    @Test func bodyInMemoryHasNoLimit() throws {
        let body = try CapturedBody(TapedBody(size: 2, isComplete: true, bytes: [4, 5]), nil)
        #expect(try body.wire(upTo: 0) == WireBody([4, 5]))
    }
}

@Suite struct OpenSpoolTests {
    @Test func itRemembersItsBeginningAndCanBeReadBeforeItsEnd() throws {
        let folder = try TemporaryFolder()
        let spool = OpenSpool(try BodyStore(cassettePath: folder.file("tape.json")).makeSpool(), digest: PortableSHA256())
        let bytes = (0..<2000).map { UInt8(truncatingIfNeeded: $0) }
        try spool.write(Array(bytes[..<700]))
        try spool.write(Array(bytes[700...]))
        #expect(spool.size == 2000)
        #expect(spool.beginning == Array(bytes[..<512]))
        #expect(try spool.source.load() == bytes)
        let sidecar = try spool.finish(fileExtension: "bin")
        #expect(try folder.read(sidecar.path) == bytes)
    }

    @Test func aDiscardedOneIsGone() throws {
        let folder = try TemporaryFolder()
        let spool = OpenSpool(try BodyStore(cassettePath: folder.file("tape.json")).makeSpool(), digest: PortableSHA256())
        try spool.write([1])
        spool.discard()
        #expect(try folder.names(in: "tape.bodies").isEmpty)
    }
}
