import NIOCore
import Testing
@testable import TapeProxy

@Suite struct AddressLookupTests {
    @Test func anAddressIsItsOwn() throws {
        #expect(try AddressLookup.addresses(host: "127.0.0.1", port: 80) == [SocketAddress(ipAddress: "127.0.0.1", port: 80)])
        #expect(try AddressLookup.addresses(host: "127.1", port: 8).first?.ipAddress == "127.0.0.1")
    }

    @Test func localhostIsALoopbackAddress() throws {
        let addresses = try AddressLookup.addresses(host: "localhost", port: 81)
        #expect(!addresses.isEmpty)
        #expect(addresses.allSatisfy { $0.port == 81 && ["127.0.0.1", "::1"].contains($0.ipAddress) })
    }

    @Test func aNameWithoutAnAddressIsAnErrorInWords() {
        let error = #expect(throws: AddressLookup.LookupError.self) { try AddressLookup.addresses(host: "no-such-host.invalid", port: 80) }
        #expect(error?.description.isEmpty == false)
    }
}
