internal import TapeExchange

/// The ports on which an isolation takes connections and datagrams, inside the network namespace.
struct LedPorts: Sendable, Hashable {
    /// TCP to any address.
    var stream: UInt16
    /// TCP to port 53 of any address.
    var names: UInt16
    /// UDP to any address but port 53. Queries arrive at port 53 itself, so that their answers come from it.
    var datagrams: UInt16
}

/// The rules of nftables inside an isolated network namespace, in which every address is this machine.
///
/// TPROXY leads connections to the proxy and keeps their destination. Packets that nothing takes are rejected at once and logged to a
/// group, from which the isolation counts them. Does not load the rules.
struct IsolationRules: Sendable, Hashable {
    /// The group of NFLOG that receives rejected packets.
    static let logGroup: UInt16 = 7
    /// Marks the connections of the proxy itself into the namespace, which reach the program's own servers only.
    static let mark: UInt32 = 0x7774

    var ports: LedPorts
    /// Loopback ports that lead to the proxy if no server inside listens on them.
    var reach: [UInt16] = []
    var hasIPv6 = true

    var text: String {
        let table = OwnAddresses.self
        let elements = self.reach.isEmpty ? "" : "elements = { \(self.reach.map(String.init).joined(separator: ", ")) }"
        // Rejecting answers the sender with an error, so that nobody waits.
        let reject = "group \(Self.logGroup) reject with icmpx admin-prohibited"
        var lines = [
            "table inet wiretape {",
            " set reach { type inet_service; \(elements) }",
            " chain output { type filter hook output priority 0;",
            "  ip daddr 127.0.0.0/8 accept",
            "  ip6 daddr ::1 accept",
            "  meta l4proto icmp icmp type != echo-request accept",
            "  meta l4proto icmpv6 icmpv6 type != echo-request accept",
            "  udp dport 53 accept",
            // TPROXY does not see multicast.
            "  ip daddr 224.0.0.0/4 log prefix \"multicast\" \(reject)",
            "  ip6 daddr ff00::/8 log prefix \"multicast\" \(reject)",
            "  meta l4proto { icmp, icmpv6 } log prefix \"icmp\" \(reject)",
            "  meta l4proto { tcp, udp } accept",
            "  log prefix \"other\" \(reject)",
            " }",
            " chain input { type filter hook prerouting priority -150;",
            "  meta mark \(Self.mark) accept",
            "  udp dport 53 jump lead",
            "  tcp dport 53 tcp flags & (syn|ack) == syn jump lead",
            "  ip daddr { 127.0.0.0/8, \(table.version4) } goto own",
            "  ip6 daddr { ::1, \(table.version6) } goto own",
            "  meta l4proto tcp tcp flags & (syn|ack) != syn accept",
            "  jump lead",
            " }",
            // The program's own server comes first, also one that listens on every address.
            " chain own {",
            "  tcp dport @reach tcp flags & (syn|ack) == syn socket wildcard { 0, 1 } accept",
            "  tcp dport @reach tcp flags & (syn|ack) == syn jump lead",
            "  accept",
            " }",
            " chain lead {",
        ]
        lines += Self.lead("ipv4", "ip to 127.0.0.1", self.ports)
        if self.hasIPv6 { lines += Self.lead("ipv6", "ip6 to [::1]", self.ports) }
        lines += [" }", "}"]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func lead(_ family: String, _ target: String, _ ports: LedPorts) -> [String] {
        [
            "  meta nfproto \(family) tcp dport 53 tproxy \(target):\(ports.names) accept",
            "  meta nfproto \(family) meta l4proto tcp tproxy \(target):\(ports.stream) accept",
            "  meta nfproto \(family) udp dport 53 tproxy \(target):53 accept",
            "  meta nfproto \(family) meta l4proto udp tproxy \(target):\(ports.datagrams) accept",
        ]
    }
}

/// The addresses of an isolated machine itself, besides loopback. With them, a connection has another source than destination, and a
/// program that looks for its own address finds one.
enum OwnAddresses {
    static let version4 = "198.18.0.2"
    static let version6 = "fd77:7474::2"
    static let all = Set([Self.version4, Self.version6].compactMap { IPAddress($0) })
}
