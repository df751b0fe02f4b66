@testable import TapeBytes
import Testing

@Suite struct HexTests {
    @Test func bytesComeBack() {
        let bytes = Array(UInt8.min...UInt8.max)
        #expect(Hex.decode(Hex.encode(bytes).utf8) == bytes)
        #expect(Hex.encode([0x0A, 0xFF]) == "0aff")
        #expect(Hex.decode("0AfF".utf8) == [0x0A, 0xFF])
    }

    @Test(arguments: ["0", "0g", " 0", "0x00", "é"])
    func otherTextIsRefused(_ text: String) {
        #expect(Hex.decode(text.utf8) == nil)
    }
}
