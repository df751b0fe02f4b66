import Testing

@testable import CassetteFormat
@testable import CassetteModel

struct DeflateCandidatesTests {
    private func candidates(_ size: Int, _ format: DeflateFormat, _ prefix: [UInt8] = []) -> DeflateCandidates {
        prefix.withUnsafeBytes { DeflateCandidates(contentSize: size, format: format, wirePrefix: $0) }
    }

    @Test func zlibsDefaultComesFirst() {
        #expect(self.candidates(100_000, .gzip).all.first == DeflateParameters(level: 6))
        #expect(self.candidates(100_000, .raw).all.first == DeflateParameters(level: 6))
    }

    @Test func theGzipHeaderOnlyChangesTheOrder() {
        let usual = self.candidates(1000, .gzip)
        for (flags, level) in [(UInt8(2), 9), (4, 1)] {
            let hinted = self.candidates(1000, .gzip, [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, flags, 3])
            #expect(hinted.all.first == DeflateParameters(level: level))
            #expect(Set(hinted.all).isSuperset(of: usual.all.prefix(usual.likelyCount)))
        }
    }

    @Test func nginxsStaticFilesAreLikely() {
        for (size, memory) in [(1500, 4), (8000, 7), (40_000, 8)] {
            let candidates = self.candidates(size, .gzip)
            let expected = DeflateParameters(level: 1, memoryLevel: memory)
            #expect(candidates.all.prefix(candidates.likelyCount).contains(expected))
        }
    }

    @Test func zlibsHeaderGivesWindowAndLevels() {
        let candidates = self.candidates(1000, .zlib, [0x58, 0xc3])
        #expect(candidates.all.first == DeflateParameters(level: 9, windowBits: 13))
        #expect(candidates.all.allSatisfy { $0.windowBits == 13 })
    }

    @Test func noCandidateComesTwiceAndZlibTakesAll() {
        for size in [0, 1, 500, 3000, 20_000, 1 << 30] {
            for format in DeflateFormat.allCases {
                let all = self.candidates(size, format, [0x78, 0x9c, 8, 0, 0, 0, 0, 0, 0, 0]).all
                #expect(Set(all).count == all.count)
                #expect(all.allSatisfy(Deflater.accepts))
            }
        }
    }
}
