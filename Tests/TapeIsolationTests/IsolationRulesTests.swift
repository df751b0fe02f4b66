import Foundation
import Testing

@testable import TapeIsolation

@Suite struct IsolationRulesTests {
    private let ports = LedPorts(stream: 1111, names: 2222, datagrams: 3333)

    @Test func theProxysOwnConnectionsComeBeforeEverything() throws {
        let text = IsolationRules(ports: self.ports).text
        let input = try #require(text.range(of: "chain input"))
        let mark = try #require(text.range(of: "meta mark 30580 accept"))
        let names = try #require(text.range(of: "udp dport 53 jump lead"))
        #expect(input.lowerBound < mark.lowerBound && mark.lowerBound < names.lowerBound)
    }

    @Test func loopbackIsLedForNamedPortsOnly() {
        #expect(IsolationRules(ports: self.ports).text.contains("set reach { type inet_service;  }"))
        #expect(IsolationRules(ports: self.ports, reach: [80, 9000]).text.contains("elements = { 80, 9000 }"))
    }

    @Test func eachKindGoesToItsPort() {
        let text = IsolationRules(ports: self.ports).text
        for line in [
            "meta nfproto ipv4 meta l4proto tcp tproxy ip to 127.0.0.1:1111 accept",
            "meta nfproto ipv6 tcp dport 53 tproxy ip6 to [::1]:2222 accept",
            "meta nfproto ipv6 meta l4proto udp tproxy ip6 to [::1]:3333 accept",
            "meta nfproto ipv4 udp dport 53 tproxy ip to 127.0.0.1:53 accept",
        ] {
            #expect(text.contains(line))
        }
        #expect(!IsolationRules(ports: self.ports, hasIPv6: false).text.contains("tproxy ip6"))
    }
}
