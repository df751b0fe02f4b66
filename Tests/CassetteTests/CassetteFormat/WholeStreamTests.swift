@testable import CassetteFormat
@testable import CassetteModel
import TapeTestSupport
import Testing

/// libdeflate's result for a whole stream equals zlib's in pieces, or the stream is left to zlib.
struct WholeStreamTests {
    private struct Expected: Equatable {
        var content: [UInt8]
        var header: GzipHeader?
    }

    /// Nil unless the bytes are exactly one whole stream.
    private func inflated(_ bytes: [UInt8], _ format: DeflateFormat) -> Expected? {
        var inflater = Inflater(format: format)
        var content: [UInt8] = []
        bytes.withUnsafeBytes { _ = inflater.push($0) { content += $0 } }
        guard inflater.finish() == .ended, inflater.consumed == bytes.count else { return nil }
        return Expected(content: content, header: inflater.header)
    }

    private func whole(_ bytes: [UInt8], _ format: DeflateFormat, limit: Int = InflateLimits.memoryOutput) -> Expected? {
        WholeStream(bytes, format, InflateLimits(output: limit)).map { Expected(content: $0.content, header: $0.header) }
    }

    private func content(_ size: Int, _ generator: inout SeededGenerator) -> [UInt8] {
        let spread = UInt8.random(in: 1...255, using: &generator)
        return (0..<size).map { _ in UInt8.random(in: 0...spread, using: &generator) }
    }

    private func stream(_ format: DeflateFormat, _ generator: inout SeededGenerator) throws -> [UInt8] {
        let content = self.content(Int.random(in: 0...20_000, using: &generator), &generator)
        let parameters = DeflateParameters(
            level: .random(in: 0...9, using: &generator), memoryLevel: .random(in: 1...9, using: &generator),
            windowBits: .random(in: 9...15, using: &generator), strategy: .random(in: 0...4, using: &generator))
        let header = Bool.random(using: &generator) ? GzipHeader.plain : GzipHeader(bytes: Array(CodingFixtures.gzipNamed.prefix(21)))
        return try #require(content.withUnsafeBytes { Deflater.encode($0, parameters, format: format, header: header) })
    }

    @Test(arguments: [DeflateFormat.gzip, .zlib]) func streamsOfAllKindsAreDecodedAsZlibDoes(_ format: DeflateFormat) throws {
        var generator = SeededGenerator(seed: 71)
        var taken = 0
        for _ in 0..<60 {
            let bytes = try self.stream(format, &generator)
            let expected = try #require(self.inflated(bytes, format))
            guard let whole = self.whole(bytes, format) else { continue }
            #expect(whole == expected)
            taken += 1
        }
        // The content length of a zlib stream is guessed, and dense content is longer.
        #expect(format == .gzip ? taken == 60 : taken > 20, "\(taken)")
    }

    @Test(arguments: [DeflateFormat.gzip, .zlib]) func brokenStreamsThatItAcceptsZlibAcceptsToo(_ format: DeflateFormat) throws {
        var generator = SeededGenerator(seed: 72)
        for _ in 0..<20 {
            let bytes = try self.stream(format, &generator)
            for _ in 0..<20 {
                var broken = bytes
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: broken[Int.random(in: broken.indices, using: &generator)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
                case 1: broken.removeLast(Int.random(in: 1...broken.count, using: &generator))
                default: broken += self.content(Int.random(in: 1...20, using: &generator), &generator)
                }
                if let whole = self.whole(broken, format) { #expect(whole == self.inflated(broken, format)) }
            }
        }
    }

    @Test func bytesThatAreNotExactlyOneStreamAreRefused() {
        let gzip = CodingFixtures.gzip6
        #expect(self.whole(gzip, .gzip) != nil)
        #expect(self.whole(gzip + gzip, .gzip) == nil, "two members")
        #expect(self.whole(gzip + [0], .gzip) == nil, "a byte more")
        #expect(self.whole(Array(gzip.dropLast()), .gzip) == nil, "cut")
        var wrong = gzip
        wrong[gzip.count - 8] ^= 1
        #expect(self.whole(wrong, .gzip) == nil, "another checksum")
        wrong = gzip
        wrong[gzip.count - 4] ^= 1
        #expect(self.whole(wrong, .gzip) == nil, "another length")
        wrong[gzip.count - 1] = 0xff
        #expect(self.whole(wrong, .gzip) == nil, "an impossible length")
        #expect(self.whole([], .gzip) == nil && self.whole([], .zlib) == nil)
        #expect(self.whole(CodingFixtures.rawNode, .raw) == nil)
        let size = self.inflated(gzip, .gzip)?.content.count ?? 0
        #expect(self.whole(gzip, .gzip, limit: size) != nil && self.whole(gzip, .gzip, limit: size - 1) == nil)
        #expect(
            WholeStream(gzip, [.gzip, .gzip], limits: InflateLimits()) == nil && WholeStream(gzip, [.br], limits: InflateLimits()) == nil)
    }
}
