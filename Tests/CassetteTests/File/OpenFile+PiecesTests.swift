import TapeTestSupport
import Testing
@testable import CassetteStore

@Suite struct OpenFilePiecesTests {
    private let folder = try! TemporaryFolder()  // A test without its folder has nothing to say.

    @Test func coversARangeOnceAndInOrder() throws {
        let bytes = (0..<OpenFile.pieceSize * 2 + 100).map { UInt8(truncatingIfNeeded: $0 % 251) }
        let file = try OpenFile(self.folder.write(bytes, to: "file"), for: .read)
        for range in [0..<bytes.count, 7..<9, 10..<OpenFile.pieceSize + 10, 0..<0] {
            var seen: [UInt8] = []
            try file.forEachPiece(in: range) { piece, offset in
                #expect(offset == range.lowerBound + seen.count)
                seen += piece
                return true
            }
            #expect(seen == Array(bytes[range]))
        }
    }

    @Test func findsAPatternAcrossTheEdgeOfAPiece() throws {
        let pattern = Array("\nneedle".utf8)
        for place in [0, 1, OpenFile.pieceSize - 7, OpenFile.pieceSize - 3, OpenFile.pieceSize, OpenFile.pieceSize * 2 - 5] {
            var bytes = [UInt8](repeating: 0x0a, count: OpenFile.pieceSize * 2 + 10)
            bytes.replaceSubrange(place..<(place + pattern.count), with: pattern)
            let file = try OpenFile(self.folder.write(bytes, to: "file"), for: .read)
            #expect(try file.firstOffset(of: pattern, in: 0..<bytes.count) == place)
            #expect(try file.firstOffset(of: pattern, in: (place + 1)..<bytes.count) == nil)
            #expect(try file.firstOffset(of: pattern, in: 0..<(place + pattern.count - 1)) == nil)
        }
    }

    @Test func endsWhereTheFileEnds() throws {
        let file = try OpenFile(self.folder.write([1, 2, 3], to: "file"), for: .read)
        var count = 0
        try file.forEachPiece(in: 0..<1000, overlap: 2) { piece, _ in
            count += 1
            return count < 10
        }
        #expect(count < 10)
    }
}
