@testable import CassetteFormat
@testable import CassetteModel
import Testing

struct EncoderChainTests {
    private func encode(_ content: [UInt8], _ codings: [ContentCoding]) throws -> [UInt8] {
        let chain = try EncoderChain(codings)
        var coded: [UInt8] = []
        for piece in [content.prefix(content.count / 2), content.dropFirst(content.count / 2)] {
            try piece.withUnsafeBytes { try chain.push($0) { coded += $0 } }
        }
        try chain.finish { coded += $0 }
        return coded
    }

    @Test func noCodingsChangeNothing() throws {
        #expect(try self.encode(CodingFixtures.content, []) == CodingFixtures.content)
    }

    @Test func codingsArePutOnInTheirOrder() throws {
        let inner = CodingFixtures.deflated(CodingFixtures.content, DeflateParameters(level: 9), .raw)
        let coded = CodingFixtures.deflated(inner, EncoderChain.fallback, .gzip)
        let chain: [ContentCoding] = [.rawDeflate(DeflateParameters(level: 9)), .gzip(nil, header: .plain)]
        #expect(try self.encode(CodingFixtures.content, chain) == coded)
    }

    @Test func codingsOfAllKindsAreDecodedAgain() throws {
        let codings: [ContentCoding] = [.brotli, .gzip(nil, header: .plain), .zstandard, .deflate(nil)]
        let names: [ContentEncoding.Name] = [.br, .gzip, .zstd, .deflate]
        guard names.allSatisfy(\.isSupported) else { return }
        for content in [[], CodingFixtures.content] {
            let read = try DecodedBeginning.read(ByteSource(self.encode(content, codings)), .coded(names))
            #expect(read.isWhole && read.bytes == content && read.leftOver == 0)
        }
    }

    @Test func parametersThatZlibDoesNotTakeAreAnError() {
        #expect(throws: CassetteError.self) { try EncoderChain([.brotli, .deflate(DeflateParameters(level: 10))]) }
    }
}

struct StoredEncoderTests {
    private func encode(_ pieces: [[UInt8]], _ format: StoredEncoder.Format) -> [UInt8] {
        var encoder = StoredEncoder(format)
        var coded: [UInt8] = []
        for piece in pieces { piece.withUnsafeBytes { encoder.push($0, isLast: false) { coded += $0 } } }
        encoder.push(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true) { coded += $0 }
        return coded
    }

    @Test func theBytesAreThoseOfTheRFCs() {
        #expect(self.encode([], .brotli) == [0x06])
        #expect(self.encode([[65]], .brotli) == [0x00, 0x00, 0x10, 65, 0x03])
        #expect(self.encode([[65, 66], [67]], .brotli) == [0x10, 0x00, 0x10, 65, 66, 0x00, 0x00, 0x08, 67, 0x03])
        #expect(self.encode([], .zstandard) == [0x28, 0xb5, 0x2f, 0xfd, 0, 0x38, 1, 0, 0])
        #expect(self.encode([[65, 66]], .zstandard) == [0x28, 0xb5, 0x2f, 0xfd, 0, 0x38, 16, 0, 0, 65, 66, 1, 0, 0])
    }

    @Test(arguments: [(StoredEncoder.Format.brotli, ContentEncoding.Name.br), (.zstandard, .zstd)])
    func theLibrariesReadIt(format: StoredEncoder.Format, name: ContentEncoding.Name) throws {
        guard name.isSupported else { return }
        var generator = CodingFixtures.Generator(seed: 41)
        for sizes in [[], [1], [65_535], [65_536], [65_537], [131_073], [3, 70_000, 0, 200_000]] {
            let pieces = sizes.map { generator.bytes($0) }
            let read = try DecodedBeginning.read(ByteSource(self.encode(pieces, format)), .coded([name]))
            #expect(read.isWhole && read.bytes == Array(pieces.joined()))
        }
    }
}
