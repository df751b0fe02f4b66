import Testing

@testable import CassetteFormat
@testable import CassetteModel

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
