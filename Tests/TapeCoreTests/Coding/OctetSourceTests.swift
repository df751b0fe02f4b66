import Testing

@testable import TapeCore

struct OctetSourceTests {
    @Test func piecesGiveTheOctetsBackHoweverShortTheReads() throws {
        var generator = CodingFixtures.Generator(seed: 3)
        let octets = generator.octets(150_000)
        let dribbling = OctetSource(size: octets.count) { offset, buffer in
            let count = min(997, buffer.count)
            octets.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<offset + count])) }
            return count
        }
        #expect(try dribbling.load() == octets)
        #expect(try OctetSource(octets).load() == octets)
        #expect(try OctetSource([]).load() == [])
        var rest: [UInt8] = []
        try dribbling.forEachPiece(from: 100_001) { rest += $0 }
        #expect(rest == Array(octets[100_001...]))
    }

    @Test func aNoEndsTheReading() throws {
        var pieces = 0
        try OctetSource(size: 1 << 20, readAt: { $1.count }).forEachPiece(while: { _ in
            pieces += 1
            return pieces < 3
        })
        #expect(pieces == 3)
    }

    @Test func aFileCutMeanwhileIsAnError() {
        let cut = OctetSource(size: 10) { offset, buffer in
            guard offset == 0 else { return 0 }
            return min(4, buffer.count)
        }
        #expect(throws: CassetteError.self) { try cut.load() }
        let lying = OctetSource(size: 10) { _, buffer in buffer.count + 1 }
        #expect(throws: CassetteError.self) { try lying.load() }
    }
}
