import CassetteFormat
import CassetteModel
import CassetteStore
import TapeBytes
import TapeExchange
import TapeTestSupport
import Testing
@testable import TapeRecorder

@Suite struct InteractionMakerTests {
    private let folder: TemporaryFolder
    private let store: BodyStore
    private let reader: BodyReader
    private let gzipFields = ["Content-Type: text/plain", "Content-Encoding: gzip"]

    init() throws {
        self.folder = try TemporaryFolder()
        self.store = try BodyStore(cassettePath: self.folder.file("tape.json"))
        self.reader = BodyReader(cassettePath: self.folder.file("tape.json"))
    }

    private func gzip(_ text: String) throws -> [UInt8] {
        try #require(Array(text.utf8).withUnsafeBytes { Deflater.encode($0, DeflateParameters(level: 6), format: .gzip) })
    }

    @Test func aBodyBecomesReadable() throws {
        var maker = InteractionMaker(store: self.store, digest: { PortableSHA256() })
        let made = try maker.interaction(of: TapedExchanges.simple(1), mayDecode: true)
        #expect(made.response?.body?.content == .text(Array("hello".utf8)))
        #expect(made.request.body == nil)
    }

    @Test func withoutTimeACodedBodyStaysRawAndIsDevelopedLater() throws {
        var maker = InteractionMaker(store: self.store, digest: { PortableSHA256() })
        let wire = try self.gzip("some words, some words")
        let raw = try maker.interaction(of: TapedExchanges.exchange(1, fields: self.gzipFields, body: wire), mayDecode: false)
        #expect(raw.isUndecoded)
        #expect(try self.reader.wireBytes(of: #require(raw.response?.body), digest: { PortableSHA256() }).bytes == wire)
        let decoded = try maker.decoded(raw, reader: self.reader)
        #expect(decoded.response?.body?.content == .text(Array("some words, some words".utf8)))
        #expect(try self.reader.wireBytes(of: #require(decoded.response?.body), digest: { PortableSHA256() }).bytes == wire)
        #expect(!decoded.isUndecoded)
    }

    @Test func blocksOfTwoExchangesDoNotMix() throws {
        var maker = InteractionMaker(store: self.store, digest: { PortableSHA256() })
        for octet in [UInt8(1), 2, 1, 2] {
            try maker.block(exchange: Int(octet), side: .response, bytes: [UInt8](repeating: octet, count: 70_000))
        }
        for octet in [UInt8(2), 1] {
            let exchange = TapedExchanges.exchange(
                Int(octet), fields: ["Content-Type: image/png"], body: [octet], isSpilled: true, size: 140_001)
            let body = try #require(try maker.interaction(of: exchange, mayDecode: true).response?.body)
            #expect(try self.reader.wireBytes(of: body, digest: { PortableSHA256() }).bytes == [UInt8](repeating: octet, count: 140_001))
        }
    }

    @Test func piecesOfTheArrivalAreKept() throws {
        var maker = InteractionMaker(store: self.store, digest: { PortableSHA256() })
        let arrival = Arrival(isChunked: true, pieces: [.init(at: 0, size: 2), .init(at: 1, size: 3)])
        let interaction = TapedExchanges.simple(1).interaction
        let body = TapedBody(size: 5, isComplete: false, bytes: Array("hello".utf8), arrival: arrival)
        let made = try maker.interaction(of: TapedExchange(interaction: interaction, responseBody: body), mayDecode: true)
        #expect(made.response?.body?.arrival == arrival)
        #expect(made.response?.body?.isComplete == false)
    }
}
