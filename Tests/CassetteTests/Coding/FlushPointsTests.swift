import Testing

@testable import CassetteFormat
@testable import CassetteModel

@Suite struct FlushPointsTests {
    private func find(_ wire: [UInt8], _ format: DeflateFormat = .gzip) -> [Int]? {
        wire.withUnsafeBytes { FlushPoints.find(in: $0, format: format) }
    }

    @Test func aProducersFlushesAreFound() {
        #expect(self.find(CodingFixtures.gzipFlushed) == [200, 200, 200, 113])
        #expect(self.find(CodingFixtures.gzip6) == [])
        // Go ends its streams with an empty block that is the last one.
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

    @Test func whereverTheMarkBeginsItIsFound() {
        for before in 0..<9 {
            for filler: UInt8 in [0, 1, 0xff] {
                let content = [UInt8](repeating: filler, count: before)
                // A stored block for the filler, so that the stream has it as it is.
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
