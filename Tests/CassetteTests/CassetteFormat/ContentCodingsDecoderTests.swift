@testable import CassetteFormat
@testable import CassetteModel
import Testing

struct ContentCodingsDecoderTests {
    private let decoder = ContentCodingsDecoder(InflatingDecoder(format: .gzip))

    @Test func eachCodingComesWithTheBytesItWasDecodedFrom() throws {
        let inner = CodingFixtures.rawNode
        let wire = CodingFixtures.deflated(inner, DeflateParameters(level: 6), .gzip)
        guard case .whole(let content, let layers) = try self.decoder.decode(ByteSource(wire), [.deflate, .gzip]) else {
            return #expect(Bool(false))
        }
        #expect(content == CodingFixtures.content)
        #expect(layers.map(\.layer.format) == [.gzip, .raw])
        let wires = try layers.map { try $0.wire.load() }
        #expect(wires == [wire, inner])
    }

    @Test func aLargeContentHasABeginningAndKnowsItsFormat() throws {
        let content = [UInt8](repeating: 7, count: WireBodyDecoder.memoryLimit + 1)
        let wire = CodingFixtures.deflated(content, DeflateParameters(level: 0), .raw)
        guard case .large(let beginning, let codings) = try self.decoder.decode(ByteSource(wire), [.deflate]) else {
            return #expect(Bool(false))
        }
        #expect(!beginning.isEmpty && content.starts(with: beginning))
        #expect(codings.map(\.format) == [.raw])
        var size = 0
        let layers = try ContentCodingsDecoder.stream(ByteSource(wire), codings) { size += $0.count }
        #expect(size == content.count && layers.count == 1 && layers[0].mayBeRestored)
    }

    @Test func theInnerCodingsOfALargeOneAreFoundWhileStreaming() throws {
        let content = [UInt8](repeating: 7, count: WireBodyDecoder.memoryLimit + 1)
        let inner = CodingFixtures.deflated(content, DeflateParameters(level: 0), .raw)
        let wire = CodingFixtures.deflated(inner, DeflateParameters(level: 0), .gzip)
        guard case .large(let beginning, let codings) = try self.decoder.decode(ByteSource(wire), [.deflate, .gzip]) else {
            return #expect(Bool(false))
        }
        #expect(beginning == Array(content.prefix(ByteSource.pieceSize)))
        let layers = try ContentCodingsDecoder.stream(ByteSource(wire), codings) { _ in }
        #expect(layers.map(\.format) == [.gzip, .raw])
    }

    @Test func theCodingThatFailsIsNamed() throws {
        let wire = CodingFixtures.deflated(CodingFixtures.content, DeflateParameters(level: 6), .gzip)
        do {
            _ = try self.decoder.decode(ByteSource(wire), [.deflate, .gzip])
            #expect(Bool(false))
        } catch let error as ContentCodingsDecoder.Undecodable {
            #expect(error.name == .deflate)
        }
        let cut = Array(wire.dropLast(9))
        #expect(throws: ContentCodingsDecoder.Undecodable.self) {
            try ContentCodingsDecoder.stream(ByteSource(cut), [(.gzip, nil)]) { _ in }
        }
    }

    @Test func ofAZlibStreamThatBreaksZlibsProblemIsReported() {
        let cut = ByteSource(Array(CodingFixtures.zlib.prefix(6)))
        let error = #expect(throws: ContentCodingsDecoder.Undecodable.self) { try self.decoder.decode(cut, [.deflate]) }
        #expect(error?.problem == InflateProblem(.truncated, offset: 6, reason: "zlib stream cut short"))
    }

    @Test func bytesThatOnlyLookLikeAStreamAreNone() throws {
        // A complete raw stream and bytes after it: nothing shows that it was meant to be a stream.
        let bytes: [UInt8] = [0x03, 0x00] + Array("hello".utf8)
        #expect(throws: ContentCodingsDecoder.Undecodable.self) { try self.decoder.decode(ByteSource(bytes), [.deflate]) }
        #expect(throws: ContentCodingsDecoder.Undecodable.self) {
            try ContentCodingsDecoder.stream(ByteSource(bytes), [(.deflate, .raw)]) { _ in }
        }
        if ContentEncoding.Name.br.isSupported {
            #expect(throws: ContentCodingsDecoder.Undecodable.self) { try self.decoder.decode(ByteSource([0x06, 0x68, 0x69]), [.br]) }
        }
    }
}
