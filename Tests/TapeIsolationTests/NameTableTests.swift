import TapeExchange
import Testing

@testable import TapeIsolation

@Suite struct NameTableTests {
    private let table = NameTable()

    @Test func eachNameHasItsOwnAddressesForTheRun() throws {
        let first = try #require(self.table.addresses(of: "a.test"))
        let second = try #require(self.table.addresses(of: "b.test"))
        let again = try #require(self.table.addresses(of: "a.test"))
        #expect(first.version4 == [198, 18, 0, 10] && first.version6.prefix(4) == [0xFD, 0x77, 0x74, 0x74])
        #expect(first.version4 == again.version4 && first.version6 == again.version6)
        #expect(first.version4 != second.version4 && first.version6 != second.version6)
        for (bytes, name) in [(first.version4, "a.test"), (first.version6, "a.test"), (second.version6, "b.test")] {
            #expect(self.table.name(of: try #require(IPAddress(bytes: bytes))) == name)
        }
        #expect(self.table.name(of: try #require(IPAddress("203.0.113.5"))) == nil)
    }

    @Test func addressesLookPublicIfAsked() throws {
        let addresses = try #require(NameTable(looksPublic: true).addresses(of: "a.test"))
        #expect(addresses.version4 == [11, 18, 0, 10] && addresses.version6.prefix(4) == [0x26, 0, 0x74, 0x74])
    }

    @Test(arguments: [true, false]) func addressesOfTheTableAreTold(looksPublic: Bool) throws {
        let table = NameTable(looksPublic: looksPublic)
        let addresses = try #require(table.addresses(of: "a.test"))
        for bytes in [addresses.version4, addresses.version6] { #expect(table.isHandedOut(try #require(IPAddress(bytes: bytes)))) }
        for text in ["198.18.0.2", "fd77:7474::2", "203.0.113.5", "::1", looksPublic ? "198.18.0.10" : "11.18.0.10"] {
            #expect(!table.isHandedOut(try #require(IPAddress(text))), "\(text)")
        }
    }

    @Test func theTableHasALimit() {
        for number in 0..<NameTable.limit { #expect(self.table.addresses(of: "\(number).test") != nil) }
        #expect(self.table.addresses(of: "one-more.test") == nil)
        #expect(self.table.addresses(of: "0.test") != nil)
    }

    @Test func aRealAddressThatIsSharedHasNoName() throws {
        let address = try #require(IPAddress("203.0.113.5"))
        for _ in 0..<2 { self.table.remember([203, 0, 113, 5], of: "a.test") }
        #expect(self.table.name(of: address) == "a.test")
        self.table.remember([203, 0, 113, 5], of: "b.test")
        #expect(self.table.name(of: address) == nil)
        self.table.remember([203, 0, 113, 5], of: "a.test")
        #expect(self.table.name(of: address) == nil)
    }
}
