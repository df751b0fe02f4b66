import Testing

@testable import Wiretape

@Suite struct DERReaderTests {
    @Test func elementsComeOneAfterTheOther() {
        var reader = DERReader([0x02, 0x01, 0x05, 0x30, 0x80 | 1, 0x02, 0xAA, 0xBB, 0x04, 0x82, 0x00, 0x01, 0x07][...])
        #expect(reader.next(DERReader.sequence) == nil)
        let integer = reader.next(DERReader.integer)
        #expect(integer?.content == [5] && integer?.whole == [0x02, 0x01, 0x05])
        let sequence = reader.next()
        #expect(sequence?.tag == 0x30 && sequence?.content == [0xAA, 0xBB] && sequence?.whole == [0x30, 0x81, 0x02, 0xAA, 0xBB])
        #expect(!reader.isAtEnd)
        #expect(reader.next(DERReader.octetString)?.content == [7])
        #expect(reader.isAtEnd && reader.next() == nil)
    }

    @Test(
        arguments: [
            [], [0x30], [0x30, 0x01], [0x30, 0x80, 0x00, 0x00], [0x30, 0x85, 0, 0, 0, 0, 0], [0x30, 0x82, 0x01], [0x1F, 0x01, 0x00],
            [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF, 0x00],
        ] as [[UInt8]])
    func whatIsNoElementIsNone(bytes: [UInt8]) {
        var reader = DERReader(bytes[...])
        #expect(reader.next() == nil)
    }
}
