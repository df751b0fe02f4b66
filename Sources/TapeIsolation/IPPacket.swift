internal import TapeExchange

/// The parts of an IP packet that tell who sent it where (RFC 791, RFC 8200). Extension headers of IPv6 are not followed.
struct IPPacket: Hashable {
    /// The number of the protocol inside.
    var transport: UInt8
    var source: Endpoint
    var destination: Endpoint
    /// The identifier of an ICMP echo request.
    var echo: UInt16?

    static let tcp: UInt8 = 6
    static let udp: UInt8 = 17

    init(transport: UInt8, source: Endpoint, destination: Endpoint) {
        self.transport = transport
        self.source = source
        self.destination = destination
    }

    init?(_ bytes: ArraySlice<UInt8>) {
        let bytes = Array(bytes)
        guard let first = bytes.first else { return nil }
        let head: Int
        let addresses: (source: ArraySlice<UInt8>, destination: ArraySlice<UInt8>)
        switch first >> 4 {
        case 4:
            head = Int(first & 15) * 4
            guard head >= 20, bytes.count >= head else { return nil }
            self.transport = bytes[9]
            addresses = (bytes[12..<16], bytes[16..<20])
        case 6:
            head = 40
            guard bytes.count >= head else { return nil }
            self.transport = bytes[6]
            addresses = (bytes[8..<24], bytes[24..<40])
        default: return nil
        }
        guard let source = IPAddress(bytes: addresses.source), let destination = IPAddress(bytes: addresses.destination) else { return nil }
        func number(_ offset: Int) -> UInt16 {
            head + offset + 1 < bytes.count ? UInt16(bytes[head + offset]) << 8 | UInt16(bytes[head + offset + 1]) : 0
        }
        let hasPorts = self.transport == Self.tcp || self.transport == Self.udp
        self.source = Endpoint(address: source, port: hasPorts ? number(0) : 0)
        self.destination = Endpoint(address: destination, port: hasPorts ? number(2) : 0)
        if self.transport == 1 && bytes.count > head && bytes[head] == 8 || self.transport == 58 && bytes.count > head && bytes[head] == 128
        {
            self.echo = number(4)
        }
    }

    /// An ICMP message that a port is unreachable (RFC 792, RFC 4443), which quotes the datagram that was sent there.
    ///
    /// The kernel computes the checksum of ICMPv6 on raw sockets, but not that of ICMP.
    static func portUnreachable(from source: Endpoint, to destination: Endpoint, payload: [UInt8]) -> [UInt8] {
        let size = UInt16(clamping: 8 + payload.count)
        let datagram = Self.network(source.port) + Self.network(destination.port) + Self.network(size) + [0, 0] + payload.prefix(64)
        if source.address.bytes.count == 4 {
            let header: [UInt8] =
                [0x45, 0] + Self.network(UInt16(clamping: 28 + payload.count)) + [0, 0, 0, 0, 64, Self.udp, 0, 0]
                + source.address.bytes + destination.address.bytes
            var message: [UInt8] = [3, 3, 0, 0, 0, 0, 0, 0] + header + datagram
            let sum = Self.checksum(message)
            message[2] = UInt8(sum >> 8)
            message[3] = UInt8(sum & 0xFF)
            return message
        }
        let header: [UInt8] =
            [0x60, 0, 0, 0] + Self.network(size) + [Self.udp, 64] + source.address.bytes + destination.address.bytes
        return [1, 4, 0, 0, 0, 0, 0, 0] + header + datagram
    }

    private static func network(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xFF)] }

    /// RFC 1071.
    static func checksum(_ bytes: [UInt8]) -> UInt16 {
        var sum: UInt32 = 0
        var index = 0
        while index < bytes.count {
            sum += UInt32(bytes[index]) << 8 | (index + 1 < bytes.count ? UInt32(bytes[index + 1]) : 0)
            index += 2
        }
        while sum > 0xFFFF { sum = (sum & 0xFFFF) + (sum >> 16) }
        return ~UInt16(sum)
    }
}
