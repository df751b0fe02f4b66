import Testing

@testable import CassetteFormat
@testable import CassetteModel

struct FirstDeflateBlockTests {
    private func block(_ stream: [UInt8], hasFlushes: Bool = false) -> FirstDeflateBlock? {
        stream.withUnsafeBytes { FirstDeflateBlock($0, hasFlushes: hasFlushes) }
    }

    /// zlib's buffer for literals and matches has the size of its memory level, regardless of the other parameters.
    @Test func aBlockOfZlibTellsItsMemoryLevel() throws {
        var generator = CodingFixtures.Generator(seed: 42)
        let content = generator.text(400_000)
        for memory in [1, 4, 7, 8, 9] {
            for level in [1, 4, 6, 9] {
                for strategy in [0, 2, 3, 4] {
                    let parameters = DeflateParameters(level: level, memoryLevel: memory, strategy: strategy)
                    let block = try #require(self.block(CodingFixtures.deflated(content, parameters, .raw)))
                    #expect((1...9).filter { block.mayHave(memoryLevel: $0) } == [memory], "\(parameters)")
                }
            }
        }
    }

    @Test func aLastBlockTellsTheLeastMemoryLevel() throws {
        var generator = CodingFixtures.Generator(seed: 43)
        let block = try #require(self.block(CodingFixtures.deflated(generator.text(2000), DeflateParameters(level: 6), .raw)))
        #expect(block.mayHave(memoryLevel: 8) && !block.mayHave(memoryLevel: 1))
        #expect(self.block([]) == nil && self.block([0xFF, 0xFF]) == nil && self.block([1, 0, 0, 0xFF, 0xFF]) == nil)
    }

    /// 200 KB from a compressor whose first block has a thousand literals: the check deflates nothing.
    @Test func aStreamOfAnotherCompressorCostsNothing() {
        let content = [UInt8](repeating: UInt8(ascii: "a"), count: 200_000)
        var bits: [UInt8] = []
        func block(_ count: Int, isLast: Bool) {
            bits += [isLast ? 1 : 0, 1, 0]
            // Fixed codes (RFC 1951, 3.2.6): a literal takes eight bits, and the end of the block is seven zeros.
            let literal = 0x30 + Int(UInt8(ascii: "a"))
            for _ in 0..<count { for bit in (0..<8).reversed() { bits.append(UInt8(literal >> bit & 1)) } }
            bits += [UInt8](repeating: 0, count: 7)
        }
        block(1000, isLast: false)
        block(content.count - 1000, isLast: true)
        var wire = [UInt8](repeating: 0, count: (bits.count + 7) / 8)
        for (index, bit) in bits.enumerated() { wire[index / 8] |= bit << (index % 8) }
        var restorer = DeflateRestorer()
        let found = wire.withUnsafeBytes { wire in
            content.withUnsafeBytes {
                restorer.parameters(producing: wire, from: $0, format: .raw, header: nil, origin: "o", identity: [1])
            }
        }
        #expect(found == nil && restorer.work == 0)
    }
}
