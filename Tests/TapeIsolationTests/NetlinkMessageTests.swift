import Testing

@testable import TapeIsolation

/// The bytes are those of a machine with little-endian order, as the kernel's headers lay them out.
@Suite(.enabled(if: UInt16(littleEndian: 1) == 1, "the expected bytes are little-endian")) struct NetlinkMessageTests {
    @Test func aLinkIsSetUp() {
        #expect(
            NetlinkMessage.linkUp(index: 1).bytes == [
                32, 0, 0, 0, 16, 0, 5, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0,
            ])
    }

    @Test func anAddressIsOneOfTheUniverseAndNotTested() {
        #expect(
            NetlinkMessage.address([198, 18, 0, 2], family: 2, index: 1).bytes == [
                40, 0, 0, 0, 20, 0, 5, 4, 1, 0, 0, 0, 0, 0, 0, 0, 2, 32, 2, 0, 1, 0, 0, 0, 8, 0, 1, 0, 198, 18, 0, 2, 8, 0, 2, 0, 198, 18,
                0, 2,
            ])
    }

    @Test func everyAddressBecomesLocalWithASource() {
        #expect(
            NetlinkMessage.localDefault(source: [198, 18, 0, 2], family: 2, index: 1).bytes == [
                44, 0, 0, 0, 24, 0, 5, 4, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 255, 3, 254, 2, 0, 0, 0, 0, 8, 0, 4, 0, 1, 0, 0, 0, 8, 0, 7,
                0,
                198, 18, 0, 2,
            ])
    }

    @Test func theGroupOfTheLogIsInNetworkOrder() {
        #expect(
            NetlinkMessage.bindLog(group: 7).bytes == [
                28, 0, 0, 0, 1, 4, 5, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 5, 0, 1, 0, 1, 0, 0, 0,
            ])
        #expect(NetlinkMessage.copyPackets(group: 7, size: 128).bytes.suffix(12) == [10, 0, 2, 0, 0, 0, 0, 128, 2, 0, 0, 0])
    }

    @Test func aSocketIsAskedForByItsEnds() throws {
        let source = try #require(Endpoint("198.18.0.2", port: 0x1234))
        let destination = try #require(Endpoint("203.0.113.5", port: 443))
        let bytes = NetlinkMessage.socket(transport: 6, family: 2, source: source, destination: destination).bytes
        #expect(bytes.count == 72 && Array(bytes[16..<20]) == [2, 6, 0, 0])
        #expect(Array(bytes[24..<32]) == [0x12, 0x34, 1, 0xBB, 198, 18, 0, 2] && Array(bytes[44..<48]) == [203, 0, 113, 5])
        #expect(bytes.suffix(8) == [255, 255, 255, 255, 255, 255, 255, 255])
    }

    @Test func answersAreReadOneByOneUntilOneIsCutOff() {
        let error: [UInt8] = [36, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xEF, 0xFF, 0xFF, 0xFF] + Array(repeating: 0, count: 16)
        let answers = NetlinkMessage.answers(in: (error + error.prefix(20))[...])
        #expect(answers.count == 1 && answers.first?.error == 17)
        #expect(NetlinkMessage.answers(in: [4, 0, 0, 0, 2, 0, 0, 0][...]).isEmpty)
    }

    @Test func attributesEndWhereTheirLengthIsWrong() {
        let body: [UInt8] = [9, 9, 9, 9, 5, 0, 1, 0, 7, 0, 0, 0, 6, 0, 2, 0x80, 1, 2, 0, 0, 90, 0, 3, 0]
        let attributes = NetlinkMessage.Answer(type: 0, body: body[...]).attributes(after: 4)
        #expect(attributes.mapValues { Array($0) } == [1: [7], 2: [1, 2]])
    }
}
