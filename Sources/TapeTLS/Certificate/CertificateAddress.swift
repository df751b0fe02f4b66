internal import Platform

/// An IP address in a certificate: 4 or 16 bytes (RFC 5280, 4.2.1.6). Has no port, zone or network.
struct CertificateAddress: Hashable, Sendable, CustomStringConvertible {
    let bytes: [UInt8]

    init?(_ bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// Parses a literal: IPv4, or IPv6 with or without brackets.
    init?(_ text: String) {
        var text = text
        if text.hasPrefix("["), text.hasSuffix("]"), text.count > 2 { text = String(text.dropFirst().dropLast()) }
        // `inet_pton` would stop at a NUL and accept the part before it.
        guard !text.utf8.contains(0) else { return nil }
        var short = in_addr()
        if inet_pton(AF_INET, text, &short) == 1 {
            self.bytes = withUnsafeBytes(of: &short) { Array($0) }
            return
        }
        var long = in6_addr()
        guard inet_pton(AF_INET6, text, &long) == 1 else { return nil }
        self.bytes = withUnsafeBytes(of: &long) { Array($0) }
    }

    var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = self.bytes.count == 4 ? AF_INET : AF_INET6
        guard inet_ntop(family, self.bytes, &text, socklen_t(text.count)) != nil else { return "" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
