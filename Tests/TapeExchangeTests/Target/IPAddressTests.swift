@testable internal import TapeExchange
internal import Testing

@Suite struct IPAddressTests {
    @Test(arguments: [
        "0.0.0.0", "127.0.0.1", "255.255.255.255", "::", "::1", "1::", "fe80::1", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8",
        "::ffff:1.2.3.4", "64:ff9b::1.2.3.4", "1:2:3:4:5:6:1.2.3.4", "ABCD::ef01",
    ])
    func standardNotationIsRead(_ text: String) {
        #expect(IPAddress(text) != nil)
    }

    @Test(arguments: [
        "", "1", "127.1", "1.2.3", "1.2.3.4.5", "01.2.3.4", "256.1.1.1", "1.2.3.", ".1.2.3", "0x7f.0.0.1", "1.2.3.4 ", ":", ":::", ":1",
        "1:", "1:2", "1::2::3",
        "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::", "::1:2:3:4:5:6:7:8", "12345::", "g::", "fe80::1%eth0", "[::1]",
        "::1.2.3", "1.2.3.4::", "::1.2.3.4:5",
        "1:2:3:4:5:6:7:1.2.3.4",
    ])
    func anythingElseIsRefused(_ text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test func gapMeansZeros() {
        #expect(IPAddress("1:2::8")?.bytes == [0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8])
        #expect(IPAddress("1::") == IPAddress("1:0:0:0:0:0:0:0"))
    }

    @Test func mappedAddressEqualsItsIPv4Address() {
        #expect(IPAddress("::ffff:127.0.0.1") == IPAddress("127.0.0.1"))
        #expect(IPAddress("::ffff:7f00:1") == IPAddress("127.0.0.1"))
        #expect(IPAddress(bytes: [UInt8](repeating: 0, count: 5)) == nil)
    }

    @Test func loopbackAndUnspecifiedAreKnown() throws {
        for text in ["127.0.0.1", "127.255.0.3", "::1", "::ffff:127.9.9.9"] { #expect(try #require(IPAddress(text)).isLoopback) }
        for text in ["128.0.0.1", "::2", "1::1", "0.0.0.0"] { #expect(try !#require(IPAddress(text)).isLoopback) }
        for text in ["0.0.0.0", "::", "::ffff:0.0.0.0"] { #expect(try #require(IPAddress(text)).isUnspecified) }
        #expect(try !#require(IPAddress("::1")).isUnspecified)
    }
}

@Suite struct LoopRuleTests {
    private func rule(_ address: String) throws -> LoopRule {
        let interfaces = try ["192.0.2.7", "2001:db8::7"].map { try #require(IPAddress($0)) }
        return LoopRule(listeningOn: try #require(IPAddress(address)), port: 8080, interfaces: interfaces)
    }

    @Test(arguments: ["127.0.0.1", "127.1.2.3", "::1", "0.0.0.0", "::", "::ffff:127.0.0.1", "::ffff:7f00:2", "::ffff:0:0"])
    func everySpellingOfLoopbackIsSelf(_ text: String) throws {
        let address = try #require(IPAddress(text))
        for listening in ["127.0.0.1", "0.0.0.0", "::", "192.0.2.7"] {
            #expect(try self.rule(listening).isSelf(address: address, port: 8080))
            #expect(try !self.rule(listening).isSelf(address: address, port: 8081))
        }
    }

    @Test func ownInterfacesCountWhereTheProxyListensOnAll() throws {
        for text in ["192.0.2.7", "::ffff:192.0.2.7", "2001:db8::7", "2001:0DB8:0:0::7"] {
            let address = try #require(IPAddress(text))
            #expect(try self.rule("::").isSelf(address: address, port: 8080))
            #expect(try !self.rule("127.0.0.1").isSelf(address: address, port: 8080))
        }
        #expect(try self.rule("192.0.2.7").isSelf(address: #require(IPAddress("192.0.2.7")), port: 8080))
        #expect(try !self.rule("192.0.2.7").isSelf(address: #require(IPAddress("2001:db8::7")), port: 8080))
    }

    @Test func otherHostsAreNotSelf() throws {
        for text in ["192.0.2.8", "128.0.0.1", "::2", "2001:db8::8"] {
            #expect(try !self.rule("0.0.0.0").isSelf(address: #require(IPAddress(text)), port: 8080))
        }
    }
}
