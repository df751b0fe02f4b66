@testable import CassetteFormat
import Testing

#if CODINGS

struct BrotliDecoderTests {
    private func decode(
        _ bytes: [UInt8], cutAt cut: Int? = nil, limits: InflateLimits = InflateLimits()
    ) -> (status: InflateStatus, content: [UInt8], consumed: Int, largest: Int) {
        let decoder = BrotliDecoder(limits: limits)
        var content: [UInt8] = []
        var largest = 0
        for piece in cut.map({ [bytes[..<$0], bytes[$0...]] }) ?? [bytes[...]] {
            piece.withUnsafeBytes { piece in
                _ = decoder.push(piece) {
                    content += $0
                    largest = max(largest, $0.count)
                }
            }
        }
        let status = decoder.finish()
        #expect(decoder.produced == content.count)
        return (status, content, decoder.consumed, largest)
    }

    @Test(arguments: [CodingFixtures.brotli5, CodingFixtures.brotli11])
    func aStreamIsDecodedInAnyPieces(bytes: [UInt8]) {
        for cut in 0...bytes.count {
            let result = self.decode(bytes, cutAt: cut)
            #expect(result.status == .ended && result.content == CodingFixtures.content && result.consumed == bytes.count)
        }
    }

    @Test func bytesAfterTheStreamAreLeftAlone() {
        let result = self.decode(CodingFixtures.brotli5 + [1, 2, 3])
        #expect(result.status == .ended && result.consumed == CodingFixtures.brotli5.count)
    }

    @Test func everyShorterStreamIsCutShort() {
        for length in 0..<CodingFixtures.brotli5.count {
            let result = self.decode(Array(CodingFixtures.brotli5.prefix(length)))
            #expect(result.status == .failed(InflateProblem(.truncated, offset: length, reason: "br stream cut short")))
            #expect(CodingFixtures.content.starts(with: result.content))
        }
    }

    @Test func aCorruptStreamIsNamedAsTheLibraryDoes() {
        guard case .failed(let problem) = self.decode([0xff, 0xff, 0xff, 0xff]).status else { return #expect(Bool(false)) }
        #expect(problem.kind == .corrupt)
        #expect(problem.reason == "corrupt br stream (PADDING_2)")
        #expect(problem.offset <= 4)
    }

    @Test func noBytesTrap() {
        var generator = CodingFixtures.Generator(seed: 31)
        for _ in 0..<500 {
            var bytes = CodingFixtures.brotli11
            for _ in 0..<3 { bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator) }
            #expect(self.decode(bytes, limits: InflateLimits(output: 1 << 16)).content.count <= 1 << 16)
        }
    }

    @Test func aBombEndsAtTheLimit() {
        let dense = self.decode(CodingFixtures.brotliBomb)
        guard case .failed(let problem) = dense.status else { return #expect(Bool(false)) }
        #expect(problem.kind == .tooDense && dense.content.count <= InflateLimits.ratioFloor && dense.largest <= Inflater.pieceSize)
        let long = self.decode(CodingFixtures.brotliBomb, limits: InflateLimits(output: 100_000, ratio: .max))
        guard case .failed(let problem) = long.status else { return #expect(Bool(false)) }
        #expect(problem.kind == .tooLong && long.content.count <= 100_000)
    }
}
#endif
