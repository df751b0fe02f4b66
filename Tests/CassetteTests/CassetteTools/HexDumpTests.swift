@testable import CassetteTools
import TapeTestSupport
import Testing

@Suite struct HexDumpTests {
    @Test func showsSixteenBytesARow() {
        #expect(
            HexDump.rows([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + (0x20...0x2A)) == [
                ##"00000000  89 50 4e 47 0d 0a 1a 0a  20 21 22 23 24 25 26 27  .PNG.... !"#$%&'"##,
                "00000010  28 29 2a                                          ()*",
            ])
        #expect(HexDump.rows([]) == [])
    }

    @Test func rowsCountFromWhereTheyBegin() {
        #expect(HexDump.rows([0x41, 0x42], from: 0x1230).first?.hasPrefix("00001230  41 42 ") == true)
    }

    @Test(arguments: [0, 7, 8, 15]) func aByteIsFoundByItsColumns(index: Int) throws {
        let row = try #require(HexDump.rows((0..<16).map { $0 == index ? 0x41 : 0x2E }).first)
        let columns = HexDump.columns(of: index)
        #expect(row.dropFirst(columns.digits).hasPrefix("41 "))
        #expect(row.dropFirst(columns.character).hasPrefix("A"))
    }

    @Test func controlsAndBytesOutsideASCIIAreDots() {
        #expect(HexDump.rows([0x1B, 0x9B, 0x7F, 0x41]).first?.hasSuffix(" ...A") == true)
    }
}
