import Testing
@testable import TapeTLS

@Suite struct DERTests {
    @Test func lengthsTakeAsManyOctetsAsTheyNeed() {
        #expect(DER.element(0x04, []) == [0x04, 0x00])
        #expect(DER.element(0x04, [UInt8](repeating: 7, count: 127)).prefix(2) == [0x04, 0x7F])
        #expect(DER.element(0x04, [UInt8](repeating: 7, count: 128)).prefix(3) == [0x04, 0x81, 0x80])
        #expect(DER.element(0x04, [UInt8](repeating: 7, count: 65_537)).prefix(5) == [0x04, 0x83, 0x01, 0x00, 0x01])
        #expect(DER.element(0x04, [UInt8](repeating: 7, count: 300)).count == 304)
    }

    @Test func bitsAreCountedFromTheFirstAndCutAtTheLast() {
        #expect(DER.bits([0]) == [0x03, 0x02, 0x07, 0x80])
        #expect(DER.bits([5, 6]) == [0x03, 0x02, 0x01, 0x06])
        #expect(DER.bits([8, 7]) == [0x03, 0x03, 0x07, 0x01, 0x80])
        #expect(DER.bits([]) == [0x03, 0x01, 0x00])
    }
}
