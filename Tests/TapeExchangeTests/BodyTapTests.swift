import CassetteModel
import TapeExchange
import Testing

@Suite struct BodyTapTests {
    /// Feeds pieces of these sizes and times; returns the blocks that were handed on and the body at its end.
    private func tap(_ pieces: [(size: Int, at: Double)], isChunked: Bool = false) -> (blocks: [[UInt8]], body: TapedBody) {
        var tap = BodyTap(isChunked: isChunked)
        var blocks: [[UInt8]] = []
        var next = 0
        for piece in pieces {
            let bytes = (next..<next + piece.size).map { UInt8(truncatingIfNeeded: $0) }
            next += piece.size
            if isChunked { tap.chunk(size: piece.size, line: nil, at: piece.at) }
            if let block = bytes.withUnsafeBytes({ tap.data($0, at: piece.at) }) { blocks.append(block) }
        }
        return (blocks, tap.ended(isComplete: true))
    }

    @Test func aSmallBodyIsKept() {
        let (blocks, body) = self.tap([(3, 0), (2, 0)])
        #expect(blocks.isEmpty)
        #expect(body.bytes == [0, 1, 2, 3, 4])
        #expect(!body.isSpilled)
        #expect(body.size == 5)
        #expect(body.arrival == nil)
    }

    @Test func aBodyOfTheBlocksSizeIsKeptAndOneByteMoreIsNot() {
        #expect(!self.tap([(BodyTap.blockSize, 0)]).body.isSpilled)
        let (blocks, body) = self.tap([(BodyTap.blockSize, 0), (1, 0)])
        #expect(body.isSpilled)
        #expect(blocks.joined().count + body.bytes.count == BodyTap.blockSize + 1)
    }

    @Test(arguments: 0..<20) func blocksAndTheRestAreTheBody(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let pieces = (0..<Int.random(in: 1...30, using: &generator)).map { _ in (Int.random(in: 0...12_000, using: &generator), 0.0) }
        let (blocks, body) = self.tap(pieces)
        let size = pieces.reduce(0) { $0 + $1.0 }
        #expect(body.size == size)
        #expect(Array(blocks.joined()) + body.bytes == (0..<size).map { UInt8(truncatingIfNeeded: $0) })
        #expect(blocks.allSatisfy { !$0.isEmpty && $0.count <= 2 * BodyTap.blockSize })
        #expect(body.isSpilled == !blocks.isEmpty)
    }

    @Test func readsOfOneBurstAreOnePiece() {
        let arrival = self.tap([(1, 0), (2, 1.5), (3, 3.4), (4, 9), (5, 20)]).body.arrival
        #expect(arrival?.pieces == [.init(at: 0, size: 6), .init(at: 9, size: 4), .init(at: 20, size: 5)])
        #expect(arrival?.isChunked == false)
    }

    @Test func everyChunkIsAPiece() {
        let arrival = self.tap([(1, 0), (16, 0)], isChunked: true).body.arrival
        #expect(arrival?.isChunked == true)
        #expect(arrival?.pieces == [.init(at: 0, size: 1), .init(at: 0, size: 16)])
    }

    @Test func aChunkThatWasCutKeepsItsLine() {
        var tap = BodyTap(isChunked: true)
        tap.chunk(size: 10, line: nil, at: 0)
        _ = [1, 2].withUnsafeBytes { tap.data(UnsafeRawBufferPointer(rebasing: $0[..<2]), at: 0) }
        let arrival = tap.ended(isComplete: false).arrival
        #expect(arrival?.pieces == [.init(at: 0, size: 2, line: "a")])
    }

    @Test func morePiecesThanTheLimitAreMerged() {
        let count = Arrival.pieceLimit + 10
        for isChunked in [false, true] {
            let body = self.tap((0..<count).map { (1, Double($0) * 10) }, isChunked: isChunked).body
            #expect(body.arrival?.pieces.count == Arrival.pieceLimit)
            #expect(body.arrival?.isThinned == true)
            #expect(body.arrival?.pieces.reduce(0) { $0 + $1.size } == count)
        }
    }
}
