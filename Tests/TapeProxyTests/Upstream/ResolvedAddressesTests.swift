import NIOCore
import NIOEmbedded
import Testing
@testable import TapeProxy

@Suite struct ResolvedAddressesTests {
    @Test func eachFamilyGetsItsOwnInOrder() throws {
        let addresses = try ["::2", "10.0.0.2", "::1", "10.0.0.1"].map { try SocketAddress(ipAddress: $0, port: 1) }
        let resolver = ResolvedAddresses(addresses: addresses, loop: EmbeddedEventLoop())
        #expect(try resolver.initiateAQuery(host: "", port: 1).wait().map(\.ipAddress) == ["10.0.0.2", "10.0.0.1"])
        #expect(try resolver.initiateAAAAQuery(host: "", port: 1).wait().map(\.ipAddress) == ["::2", "::1"])
        resolver.cancelQueries()
    }
}
