import Testing

@testable import CassetteModel
@testable import CassetteTools

@Suite struct ByteComparisonTests {
    private func difference(_ old: [UInt8], _ new: [UInt8]) throws -> ByteComparison.Difference? {
        try ByteComparison.firstDifference(ByteSource(old), ByteSource(new))
    }

    @Test func equalBytesHaveNone() throws {
        #expect(try self.difference([], []) == nil)
        #expect(try self.difference(Array("abc".utf8), Array("abc".utf8)) == nil)
    }

    @Test func textIsShownAsItsLine() throws {
        let found = try self.difference(Array("one\ntwo\r\nthree".utf8), Array("one\ntwx\r\nthree".utf8))
        #expect(found == ByteComparison.Difference(offset: 6, old: "byte 6: \"two\"", new: "\"twx\""))
        let ended = try self.difference(Array("abc".utf8), Array("ab".utf8))
        #expect(ended == ByteComparison.Difference(offset: 2, old: "byte 2: \"abc\"", new: "\"ab\""))
    }

    @Test func otherBytesAreShownInHex() throws {
        let found = try self.difference([0, 1, 0xFF], [0, 1, 0xFE, 7])
        #expect(found == ByteComparison.Difference(offset: 2, old: "byte 2: 0xff (3 bytes)", new: "0xfe (4 bytes)"))
        #expect(try self.difference([0, 1], [0])?.new == "ends (1 byte)")
    }

    @Test func aDifferenceIsFoundBehindTheFirstPiece() throws {
        let bytes = [UInt8](repeating: 0x61, count: 3 * ByteSource.pieceSize)
        for offset in [0, ByteSource.pieceSize - 1, ByteSource.pieceSize, 2 * ByteSource.pieceSize + 5] {
            var other = bytes
            other[offset] = 0x62
            #expect(try self.difference(bytes, other)?.offset == offset)
        }
    }
}
