@testable import CassetteFormat
import Testing

#if CODINGS

struct ZstandardDecoderTests {
    private func decode(
        _ bytes: [UInt8], cutAt cut: Int? = nil, limits: InflateLimits = InflateLimits()
    ) -> (status: InflateStatus, content: [UInt8], consumed: Int, largest: Int) {
        let decoder = ZstandardDecoder(limits: limits)
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

    /// A skippable frame (RFC 8878, 3.1.2).
    private static let skippable: [UInt8] = [0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]

    @Test(arguments: [CodingFixtures.zstd3, CodingFixtures.zstdUnchecked])
    func aFrameIsDecodedInAnyPieces(bytes: [UInt8]) {
        for cut in 0...bytes.count {
            let result = self.decode(bytes, cutAt: cut)
            #expect(result.status == .ended && result.content == CodingFixtures.content && result.consumed == bytes.count)
        }
    }

    @Test func framesAreOneContent() {
        let bytes = CodingFixtures.zstd3 + Self.skippable + CodingFixtures.zstdUnchecked
        for cut in 0...bytes.count {
            let result = self.decode(bytes, cutAt: cut)
            #expect(result.status == .ended && result.content == CodingFixtures.content + CodingFixtures.content)
            #expect(result.consumed == bytes.count)
        }
    }

    @Test(arguments: [[0], [0x28], [0x28, 0xb5, 0x2f], [1, 2, 3, 4, 5, 6]])
    func bytesAfterTheFramesAreLeftAlone(rest: [UInt8]) {
        let bytes = CodingFixtures.zstd3 + rest
        for cut in CodingFixtures.zstd3.count - 1...bytes.count {
            let result = self.decode(bytes, cutAt: cut)
            #expect(result.status == .ended && result.consumed == CodingFixtures.zstd3.count)
        }
    }

    @Test func everyShorterFrameIsCutShort() {
        for length in 0..<CodingFixtures.zstd3.count {
            let result = self.decode(Array(CodingFixtures.zstd3.prefix(length)))
            #expect(result.status == .failed(InflateProblem(.truncated, offset: length, reason: "zstd stream cut short")))
        }
    }

    @Test func problemIsNamed() {
        var wrong = CodingFixtures.zstd3
        wrong[wrong.count - 1] ^= 1
        let cases: [([UInt8], InflateProblem.Kind, String)] = [
            (wrong, .wrongChecksum, "wrong zstd checksum"),
            ([1, 2, 3, 4, 5, 6, 7, 8], .corrupt, "corrupt zstd stream (Unknown frame descriptor)"),
            ([0x28, 0xb5, 0x2f, 0xfd, 0x00, 14 << 3, 1, 0, 0], .unsupported, "zstd window above 8 MiB"),
            ([0x28, 0xb5, 0x2f, 0xfd, 0x01, 7 << 3, 9, 1, 0, 0], .unsupported, "zstd dictionary required"),
        ]
        for (bytes, kind, reason) in cases {
            guard case .failed(let problem) = self.decode(bytes).status else { return #expect(Bool(false)) }
            #expect(problem.kind == kind && problem.reason == reason && problem.offset <= bytes.count)
        }
    }

    @Test func noBytesTrap() {
        var generator = CodingFixtures.Generator(seed: 32)
        for _ in 0..<500 {
            var bytes = CodingFixtures.zstdUnchecked
            for _ in 0..<3 { bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator) }
            #expect(self.decode(bytes, limits: InflateLimits(output: 1 << 16)).content.count <= 1 << 16)
        }
    }

    @Test func aBombEndsAtTheLimit() {
        let dense = self.decode(CodingFixtures.zstdZeros(mebibytes: 64))
        guard case .failed(let problem) = dense.status else { return #expect(Bool(false)) }
        #expect(problem.kind == .tooDense && dense.content.count <= InflateLimits.ratioFloor && dense.largest <= Inflater.pieceSize)
        let long = self.decode(CodingFixtures.zstdZeros(mebibytes: 64), limits: InflateLimits(output: 100_000, ratio: .max))
        guard case .failed(let problem) = long.status else { return #expect(Bool(false)) }
        #expect(problem.kind == .tooLong && long.content.count <= 100_000)
    }
}
#endif
