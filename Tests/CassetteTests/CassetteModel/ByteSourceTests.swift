@testable import CassetteModel
import Testing

struct ByteSourceTests {
    /// Counts how many of several sources are open.
    private final class Doors {
        var open: Set<Int> = []
        var most = 0

        func source(_ index: Int) -> ByteSource {
            ByteSource(size: 3, rest: { self.open.remove(index) }) { offset, buffer in
                self.open.insert(index)
                self.most = max(self.most, self.open.count)
                buffer[0] = UInt8(index)
                return 1
            }
        }
    }

    @Test func ofJoinedSourcesOneIsOpenAtATime() throws {
        let doors = Doors()
        let joined = ByteSource(joining: (0..<5).map(doors.source))
        for _ in 0..<2 { #expect(try joined.load() == (0..<5).flatMap { [UInt8](repeating: $0, count: 3) }) }
        try joined[4..<8].forEachPiece { #expect(Array($0) == [1, 1, 2, 2]) }
        #expect(doors.most == 1 && doors.open.isEmpty)
    }

    @Test func piecesGiveTheBytesBackHoweverShortTheReads() throws {
        var generator = CodingFixtures.Generator(seed: 3)
        let bytes = generator.bytes(150_000)
        let dribbling = ByteSource(size: bytes.count) { offset, buffer in
            let count = min(997, buffer.count)
            bytes.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<offset + count])) }
            return count
        }
        #expect(try dribbling.load() == bytes)
        #expect(try ByteSource(bytes).load() == bytes)
        #expect(try ByteSource([]).load() == [])
        var rest: [UInt8] = []
        try dribbling.forEachPiece(from: 100_001) { rest += $0 }
        #expect(rest == Array(bytes[100_001...]))
    }

    @Test func aNoEndsTheReading() throws {
        var pieces = 0
        try ByteSource(size: 1 << 20, readAt: { $1.count }).forEachPiece(while: { _ in
            pieces += 1
            return pieces < 3
        })
        #expect(pieces == 3)
    }

    @Test func aFileCutMeanwhileIsAnError() {
        let cut = ByteSource(size: 10) { offset, buffer in
            guard offset == 0 else { return 0 }
            return min(4, buffer.count)
        }
        #expect(throws: CassetteError.self) { try cut.load() }
        let lying = ByteSource(size: 10) { _, buffer in buffer.count + 1 }
        #expect(throws: CassetteError.self) { try lying.load() }
    }

    @Test func joinedSourcesAreReadAcrossTheirEdges() throws {
        let slow = ByteSource(size: 3) { offset, buffer in
            buffer[0] = UInt8(10 + offset)
            return 1
        }
        let joined = ByteSource(joining: [ByteSource([1, 2]), ByteSource([]), slow, ByteSource([3])])
        #expect(joined.size == 6)
        #expect(try joined.load() == [1, 2, 10, 11, 12, 3])
        #expect(try joined[1..<4].load() == [2, 10, 11])
        #expect(try joined[6..<6].load() == [])
        #expect(try ByteSource([1, 2, 3])[1..<2].load() == [2])
        #expect(try ByteSource(joining: []).load() == [])
    }
}
