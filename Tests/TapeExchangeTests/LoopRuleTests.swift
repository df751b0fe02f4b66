internal import Testing

@testable internal import TapeExchange

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
