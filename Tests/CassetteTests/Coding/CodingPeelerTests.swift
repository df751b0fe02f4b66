import Testing

@testable import CassetteFormat
@testable import CassetteModel

struct CodingPeelerTests {
    private let peeler = CodingPeeler(InflatingDecoder(format: .gzip))

    @Test func eachCodingComesWithTheOctetsItWasTakenOff() throws {
        let inner = CodingFixtures.rawNode
        let wire = CodingFixtures.deflated(inner, DeflateParameters(level: 6), .gzip)
        guard case .whole(let content, let layers) = try self.peeler.peel(OctetSource(wire), [.deflate, .gzip]) else {
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
        guard case .large(let beginning, let codings) = try self.peeler.peel(OctetSource(wire), [.deflate]) else {
            return #expect(Bool(false))
        }
        #expect(!beginning.isEmpty && content.starts(with: beginning))
        #expect(codings.map(\.format) == [.raw])
        var size = 0
        let layers = try CodingPeeler.stream(OctetSource(wire), codings) { size += $0.count }
        #expect(size == content.count && layers.count == 1 && layers[0].mayBeRestored)
    }

    @Test func theInnerCodingsOfALargeOneAreFoundWhileStreaming() throws {
        let content = [UInt8](repeating: 7, count: WireBodyDecoder.memoryLimit + 1)
        let inner = CodingFixtures.deflated(content, DeflateParameters(level: 0), .raw)
        let wire = CodingFixtures.deflated(inner, DeflateParameters(level: 0), .gzip)
        guard case .large(let beginning, let codings) = try self.peeler.peel(OctetSource(wire), [.deflate, .gzip]) else {
            return #expect(Bool(false))
        }
        #expect(beginning == Array(content.prefix(OctetSource.pieceSize)))
        let layers = try CodingPeeler.stream(OctetSource(wire), codings) { _ in }
        #expect(layers.map(\.format) == [.gzip, .raw])
    }

    @Test func theCodingThatFailsIsNamed() throws {
        let wire = CodingFixtures.deflated(CodingFixtures.content, DeflateParameters(level: 6), .gzip)
        do {
            _ = try self.peeler.peel(OctetSource(wire), [.deflate, .gzip])
            #expect(Bool(false))
        } catch let error as CodingPeeler.Undecodable {
            #expect(error.name == .deflate)
        }
        let cut = Array(wire.dropLast(9))
        #expect(throws: CodingPeeler.Undecodable.self) { try CodingPeeler.stream(OctetSource(cut), [(.gzip, nil)]) { _ in } }
    }

    @Test func ofAZlibStreamThatBreaksZlibsProblemIsTold() {
        let cut = OctetSource(Array(CodingFixtures.zlib.prefix(6)))
        let error = #expect(throws: CodingPeeler.Undecodable.self) { try self.peeler.peel(cut, [.deflate]) }
        #expect(error?.problem == InflateProblem(.truncated, offset: 6, reason: "zlib stream cut short"))
    }

    @Test func octetsThatOnlyLookLikeAStreamAreNone() throws {
        // A whole raw stream, and octets behind it: nothing says that it was meant to be one.
        let octets: [UInt8] = [0x03, 0x00] + Array("hello".utf8)
        #expect(throws: CodingPeeler.Undecodable.self) { try self.peeler.peel(OctetSource(octets), [.deflate]) }
        #expect(throws: CodingPeeler.Undecodable.self) { try CodingPeeler.stream(OctetSource(octets), [(.deflate, .raw)]) { _ in } }
        if ContentEncoding.Name.br.isTakenOff {
            #expect(throws: CodingPeeler.Undecodable.self) { try self.peeler.peel(OctetSource([0x06, 0x68, 0x69]), [.br]) }
        }
    }
}
