import TapeExchange
import Testing

@testable import TapeIsolation

@Suite struct IPPacketTests {
    private let source = Endpoint("198.18.0.2", port: 0x1234)
    private let destination = Endpoint("203.0.113.5", port: 443)

    private static let header4: [UInt8] = [0x45, 0, 0, 29, 0, 0, 0, 0, 64, 17, 0, 0, 198, 18, 0, 2, 203, 0, 113, 5]

    @Test func endsOfADatagramAreRead() throws {
        let packet = try #require(IPPacket((Self.header4 + [0x12, 0x34, 1, 0xBB, 0, 9, 0, 0, 7])[...]))
        #expect(packet.transport == 17 && packet.source == self.source && packet.destination == self.destination && packet.echo == nil)
    }

    @Test func echoRequestsAreRecognised() throws {
        var header = Self.header4
        header[9] = 1
        let packet = try #require(IPPacket((header + [8, 0, 0, 0, 0xAB, 0xCD, 0, 1])[...]))
        #expect(packet.echo == 0xABCD && packet.destination.port == 0)
        let answer = try #require(IPPacket((header + [0, 0, 0, 0, 0xAB, 0xCD, 0, 1])[...]))
        #expect(answer.echo == nil)
    }

    @Test func aCutPacketIsNone() {
        #expect(IPPacket([][...]) == nil && IPPacket(Self.header4.prefix(19)) == nil && IPPacket([0x60, 0, 0][...]) == nil)
        #expect(IPPacket(([0x95] + Self.header4.dropFirst())[...]) == nil)
    }

    @Test func theErrorQuotesTheDatagramWithAValidChecksum() throws {
        let message = IPPacket.portUnreachable(
            from: try #require(self.source), to: try #require(self.destination), payload: Array(repeating: 5, count: 100))
        #expect(Array(message.prefix(2)) == [3, 3] && IPPacket.checksum(message) == 0)
        let quoted = try #require(IPPacket(message.dropFirst(8)))
        #expect(quoted.source == self.source && quoted.destination == self.destination)
        #expect(message.count == 8 + 20 + 8 + 64)
    }

    @Test func version6HasItsOwnError() throws {
        let (source, destination) = (Endpoint("fd77:7474::2", port: 1000), Endpoint("2001:db8::5", port: 53))
        let message = IPPacket.portUnreachable(from: try #require(source), to: try #require(destination), payload: [1])
        #expect(Array(message.prefix(2)) == [1, 4])
        let quoted = try #require(IPPacket(message.dropFirst(8)))
        #expect(quoted.source == source && quoted.destination == destination && quoted.transport == 17)
    }
}
