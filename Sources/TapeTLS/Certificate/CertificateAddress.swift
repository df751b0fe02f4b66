internal import Platform

/// An IP address as certificates hold it: 4 or 16 octets (RFC 5280, 4.2.1.6). It knows no ports, zones or networks.
struct CertificateAddress: Hashable, Sendable, CustomStringConvertible {
    let octets: [UInt8]

    init?(_ octets: [UInt8]) {
        guard octets.count == 4 || octets.count == 16 else { return nil }
        self.octets = octets
    }

    /// Reads a literal: dotted numbers, or IPv6 with or without brackets.
    init?(_ text: String) {
        var text = text
        if text.hasPrefix("["), text.hasSuffix("]"), text.count > 2 { text = String(text.dropFirst().dropLast()) }
        // A C function would stop at the NUL and take what is before it.
        guard !text.utf8.contains(0) else { return nil }
        var short = in_addr()
        if inet_pton(AF_INET, text, &short) == 1 {
            self.octets = withUnsafeBytes(of: &short) { Array($0) }
            return
        }
        var long = in6_addr()
        guard inet_pton(AF_INET6, text, &long) == 1 else { return nil }
        self.octets = withUnsafeBytes(of: &long) { Array($0) }
    }

    var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = self.octets.count == 4 ? AF_INET : AF_INET6
        guard inet_ntop(family, self.octets, &text, socklen_t(text.count)) != nil else { return "" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
