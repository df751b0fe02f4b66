@testable import CassetteFormat
@testable import CassetteModel
import Testing

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
            #expect(Set(hinted.all).isSuperset(of: usual.all.prefix(7)))
        }
    }

    @Test func nginxsStaticFilesAreLikely() {
        for (size, memory) in [(1500, 4), (8000, 7), (40_000, 8)] {
            let candidates = self.candidates(size, .gzip)
            let expected = DeflateParameters(level: 1, memoryLevel: memory)
            #expect(candidates.all.prefix(7).contains(expected))
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

@Suite struct FlushPointsTests {
    private func find(_ wire: [UInt8], _ format: DeflateFormat = .gzip) -> [Int]? {
        wire.withUnsafeBytes { FlushPoints.find(in: $0, format: format) }
    }

    @Test func aProducersFlushesAreFound() {
        #expect(self.find(CodingFixtures.gzipFlushed) == [200, 200, 200, 113])
        #expect(self.find(CodingFixtures.gzip6) == [])
        // Go ends its streams with an empty final block.
        #expect(self.find(CodingFixtures.gzipGo) == [])
    }

    @Test(arguments: DeflateFormat.allCases) func flushesAreFoundInAllFormats(_ format: DeflateFormat) {
        var generator = CodingFixtures.Generator(seed: 31)
        let content = generator.text(3000)
        for flushes in [[0], [1], [0, 1, 1], [1000, 1999], [content.count], [10, content.count - 10]] {
            let wire = CodingFixtures.deflated(content, DeflateParameters(level: 6, flushes: flushes), format)
            #expect(self.find(wire, format) == flushes)
        }
    }

    @Test func theMarkWithinABlockIsNoFlush() {
        let content: [UInt8] = [7, 0, 0, 0xff, 0xff, 7, 0, 0, 0, 0xff, 0xff, 0xff]
        let wire = CodingFixtures.deflated(content, DeflateParameters(level: 0), .raw)
        #expect(self.find(wire, .raw) == [])
        #expect(self.find(CodingFixtures.deflated(content, DeflateParameters(level: 0, flushes: [8]), .raw), .raw) == [8])
    }

    @Test func markIsFoundAtAnyOffset() {
        for before in 0..<9 {
            for filler: UInt8 in [0, 1, 0xff] {
                let content = [UInt8](repeating: filler, count: before)
                // The filler is in a stored block, so that the stream contains it unchanged.
                var wire: [UInt8] = before == 0 ? [] : [0, UInt8(before), 0, ~UInt8(before), 0xff] + content
                wire += [0, 0, 0, 0xff, 0xff, 3, 0]
                #expect(self.find(wire, .raw) == [before])
            }
        }
    }

    @Test func moreThanTheLimitAreNotReported() {
        let most = Array(repeating: 1, count: DeflateParameters.flushLimit)
        let content = [UInt8](repeating: 65, count: most.count + 1)
        #expect(self.find(CodingFixtures.deflated(content, DeflateParameters(level: 6, flushes: most), .zlib), .zlib) == most)
        #expect(self.find(CodingFixtures.deflated(content, DeflateParameters(level: 6, flushes: most + [1]), .zlib), .zlib) == nil)
    }

    @Test func bytesThatAreNoStreamHaveNone() {
        #expect(self.find([]) == [])
        #expect(self.find([0, 0, 0xff, 0xff]) == [])
        #expect(self.find([6, 0, 0, 0xff, 0xff], .raw) == [])
    }
}
