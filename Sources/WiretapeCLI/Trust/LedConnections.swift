internal import ArgumentParser
internal import Platform
internal import TapeProxy

/// The transparent connections of a proxy with `--transparent`, as rules for nftables.
struct LedConnections: ParsableArguments {
    /// The table's name, which identifies the rules for their removal.
    static let table = "wiretape"

    @Option(
        help: ArgumentHelp(
            "Lead the connections of this user alone, a name or a number. Default: those of every user but the proxy's.", valueName: "user")
    )
    var user: String?

    @Option(
        help: ArgumentHelp(
            "Lead what comes in by this interface, as from containers and network namespaces, instead of this machine's own connections.",
            valueName: "interface"))
    var interface: String?

    @Option(help: ArgumentHelp("Ports to lead, comma-separated.", valueName: "ports"), transform: { try LedConnections.numbers($0) })
    var ports: [Int] = [80, 443]

    var isEmpty: Bool { self.user == nil && self.interface == nil && self.ports == [80, 443] }

    func validate() throws {
        guard self.user == nil || self.interface == nil else {
            throw ValidationError("--user and --interface cannot be used together: what comes in by an interface has no user here.")
        }
        for text in [self.user, self.interface].compactMap({ $0 }) where text.isEmpty || !text.utf8.allSatisfy(Self.isPlain) {
            throw ValidationError("\"\(text)\" is not a name: letters, digits and . _ - @ are.")
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "@"):
            true
        default: false
        }
    }

    private static func numbers(_ text: String) throws -> [Int] {
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
        guard numbers.allSatisfy({ (1...65_535).contains($0) }) else {
            throw ValidationError("\"\(text)\" is not a list of ports: write it like 80,443.")
        }
        return numbers
    }

    /// - Parameter uid: the user as whom the proxy runs, in case it may not mark its connections.
    func rules(proxy: ListenAddress, uid: uid_t = Self.proxyUser(ChildEnvironment.parent)) -> [String] {
        let ports = "{ \(self.ports.map(String.init).joined(separator: ", ")) }"
        let family = proxy.host.contains(":") ? "ipv6" : "ipv4"
        let others = "meta nfproto != \(family) tcp dport \(ports) reject with tcp reset"
        let quic = "udp dport \(ports) reject"
        var lines = [
            "# Leads connections to the Wiretape proxy at \(proxy), which was started with --transparent.",
            "# Apply as root: wiretape env --transparent … | nft -f -    Remove: nft delete table inet \(Self.table)",
            "table inet \(Self.table) {",
        ]
        if let interface {
            lines += [
                "    chain led {",
                "        type filter hook prerouting priority mangle; policy accept;",
                "        iifname != \"\(interface)\" accept",
                "        \(quic)",
                "        \(others)",
                // Makes the machine accept packets with this mark as its own; see the two commands below.
                "        tcp dport \(ports) tproxy \(family == "ipv6" ? "ip6" : "ip") to \(proxy) meta mark set 0x7775 accept",
                "    }",
                "}",
                "# Once, so that led packets are taken in:",
                "#   ip \(family == "ipv6" ? "-6 " : "")rule add fwmark 0x7775 lookup 7775",
                "#   ip \(family == "ipv6" ? "-6 route add local ::/0" : "route add local 0.0.0.0/0") dev lo table 7775",
            ]
            return lines
        }
        var passes = ["meta mark 0x7774 accept"]
        if uid != 0, self.user == nil { passes.append("meta skuid \(uid) accept") }
        if let user, self.isUser(user, uid) {
            lines.insert(
                "# \(user) may be the proxy's own user: unless the proxy runs as root, which marks its connections, they would come back to it.",
                at: 2)
        }
        if let user { passes.append("meta skuid != \(user) accept") }
        let indented = passes.map { "        \($0)" }
        lines += ["    chain led {", "        type nat hook output priority -100; policy accept;"] + indented
        lines += ["        meta nfproto \(family) tcp dport \(ports) \(Self.target(proxy, family))", "    }"]
        lines += ["    chain others {", "        type filter hook output priority 0; policy accept;"] + indented
        lines += ["        \(quic)", "        \(others)", "    }", "}"]
        return lines
    }

    /// For `sudo wiretape env`, the user who called it: a proxy without root runs as that user.
    static func proxyUser(_ environment: [String: String], uid: uid_t = getuid()) -> uid_t {
        uid == 0 ? environment["SUDO_UID"].flatMap { uid_t($0) } ?? 0 : uid
    }

    private func isUser(_ name: String, _ uid: uid_t) -> Bool { uid_t(name) == uid || getpwnam(name)?.pointee.pw_uid == uid }

    /// `redirect` leads to the first loopback address. A proxy with another address does not listen there.
    private static func target(_ proxy: ListenAddress, _ family: String) -> String {
        let isAddress = family == "ipv6" || proxy.host.allSatisfy { $0.isNumber || $0 == "." }
        guard isAddress, !["127.0.0.1", "::1", "0.0.0.0", "::"].contains(proxy.host) else {
            return "redirect to :\(proxy.port)"
        }
        return "dnat \(family == "ipv6" ? "ip6" : "ip") to \(proxy)"
    }
}
