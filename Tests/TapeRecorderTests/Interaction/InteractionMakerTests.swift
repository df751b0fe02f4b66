import CassetteFormat
import CassetteModel
import CassetteRedaction
import CassetteStore
import TapeBytes
import TapeExchange
@testable import TapeRecorder
import TapeTestSupport
import Testing

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
        for byte in [UInt8(1), 2, 1, 2] {
            try maker.block(exchange: Int(byte), side: .response, bytes: [UInt8](repeating: byte, count: 70_000))
        }
        for byte in [UInt8(2), 1] {
            let exchange = TapedExchanges.exchange(
                Int(byte), fields: ["Content-Type: image/png"], body: [byte], isSpilled: true, size: 140_001)
            let body = try #require(try maker.interaction(of: exchange, mayDecode: true).response?.body)
            #expect(try self.reader.wireBytes(of: body, digest: { PortableSHA256() }).bytes == [UInt8](repeating: byte, count: 140_001))
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

@Suite struct InteractionMaker_RecordedTests {
    private let folder: TemporaryFolder
    private let store: BodyStore
    private let reader: BodyReader
    private let secret = "kT7-pQ2xV9mZ4w"

    init() throws {
        self.folder = try TemporaryFolder()
        self.store = try BodyStore(cassettePath: self.folder.file("tape.json"))
        self.reader = BodyReader(cassettePath: self.folder.file("tape.json"))
    }

    private func recorded(_ text: String, size: Int = 0) throws -> Interaction {
        var maker = InteractionMaker(store: self.store, digest: { PortableSHA256() })
        let body = Array(text.utf8) + [UInt8](repeating: UInt8(ascii: "a"), count: max(0, size - text.utf8.count))
        return try maker.interaction(of: TapedExchanges.exchange(1, fields: ["Content-Type: text/plain"], body: body), mayDecode: true)
    }

    private func knowing() -> InteractionMaker {
        let redactor = Redactor()
        _ = redactor.vault.placeholder(for: Array(self.secret.utf8), kind: "jwt")
        return InteractionMaker(store: self.store, redactor: redactor, digest: { PortableSHA256() })
    }

    @Test func aBodyIsRebuiltAndTheRestStays() throws {
        var maker = self.knowing()
        var interaction = try self.recorded("it is \(self.secret).")
        interaction.response?.body?.unknown = [UnknownMember(name: "x", json: Array("1".utf8))]
        let redacted = try #require(try maker.redacted(interaction, reader: self.reader))
        #expect(redacted.count == 1)
        var expected = interaction
        expected.response?.body?.content = .text(Array("it is {{jwt:1}}.".utf8))
        expected.response?.body?.size = 16
        #expect(try maker.made(redacted, reader: self.reader) == expected)
    }

    @Test(arguments: [100_000, ExchangeRedaction.memoryLimit + 1]) func aBodyInAFileGetsAnotherFile(size: Int) throws {
        var maker = self.knowing()
        let interaction = try self.recorded("it is \(self.secret).", size: size)
        guard case .file(let old) = try #require(interaction.response?.body).content else {
            Issue.record("the body is in no file")
            return
        }
        let made = try maker.made(try #require(try maker.redacted(interaction, reader: self.reader)), reader: self.reader)
        let body = try #require(made.response?.body)
        #expect(!body.content.sidecars.contains(old))
        #expect(try self.reader.wireBytes(of: body, digest: { PortableSHA256() }).bytes.starts(with: "it is {{jwt:1}}.aaa".utf8))
    }

    @Test func nothingIsWrittenWithoutAFinding() throws {
        let maker = self.knowing()
        #expect(try maker.redacted(self.recorded("words"), reader: self.reader)?.count == nil)
        let keeping = InteractionMaker(store: self.store, digest: { PortableSHA256() })
        #expect(try keeping.redacted(self.recorded(self.secret), reader: self.reader)?.count == nil)
    }
}
