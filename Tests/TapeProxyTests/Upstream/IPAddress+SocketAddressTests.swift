import NIOCore
import TapeExchange
import Testing
@testable import TapeProxy

@Suite struct IPAddressSocketAddressTests {
    @Test func bothFamiliesCarryTheirOctets() throws {
        #expect(IPAddress(try SocketAddress(ipAddress: "10.1.2.3", port: 1))?.bytes == [10, 1, 2, 3])
        #expect(IPAddress(try SocketAddress(ipAddress: "::1", port: 1))?.isLoopback == true)
        #expect(IPAddress(try SocketAddress(ipAddress: "::ffff:127.0.0.1", port: 1))?.bytes == [127, 0, 0, 1])
        #expect(IPAddress(try SocketAddress(unixDomainSocketPath: "/tmp/x")) == nil)
    }
}
