import Testing

@testable import CassetteModel
@testable import CassetteTools

@Suite struct OctetComparisonTests {
    private func difference(_ old: [UInt8], _ new: [UInt8]) throws -> OctetComparison.Difference? {
        try OctetComparison.firstDifference(OctetSource(old), OctetSource(new))
    }

    @Test func equalOctetsHaveNone() throws {
        #expect(try self.difference([], []) == nil)
        #expect(try self.difference(Array("abc".utf8), Array("abc".utf8)) == nil)
    }

    @Test func textIsShownAsItsLine() throws {
        let found = try self.difference(Array("one\ntwo\r\nthree".utf8), Array("one\ntwx\r\nthree".utf8))
        #expect(found == OctetComparison.Difference(offset: 6, old: "octet 6: \"two\"", new: "\"twx\""))
        let ended = try self.difference(Array("abc".utf8), Array("ab".utf8))
        #expect(ended == OctetComparison.Difference(offset: 2, old: "octet 2: \"abc\"", new: "\"ab\""))
    }

    @Test func otherOctetsAreShownInHex() throws {
        let found = try self.difference([0, 1, 0xFF], [0, 1, 0xFE, 7])
        #expect(found == OctetComparison.Difference(offset: 2, old: "octet 2: 0xff (3 octets)", new: "0xfe (4 octets)"))
        #expect(try self.difference([0, 1], [0])?.new == "ends (1 octets)")
    }

    @Test func aDifferenceIsFoundBehindTheFirstPiece() throws {
        let octets = [UInt8](repeating: 0x61, count: 3 * OctetSource.pieceSize)
        for offset in [0, OctetSource.pieceSize - 1, OctetSource.pieceSize, 2 * OctetSource.pieceSize + 5] {
            var other = octets
            other[offset] = 0x62
            #expect(try self.difference(octets, other)?.offset == offset)
        }
    }
}
