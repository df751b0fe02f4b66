import Testing
@testable import TapeCore

@Suite struct HexTests {
    @Test func writesLowerCase() {
        #expect(Hex.string([0x00, 0x9a, 0xbc, 0xff]) == "009abcff")
        #expect(Hex.string([]).isEmpty)
    }

    @Test func knowsItsDigits() {
        #expect("0123456789abcdef".utf8.allSatisfy(Hex.isDigit))
        #expect(!"ABCDEFg/:`".utf8.contains(where: Hex.isDigit))
    }
}
