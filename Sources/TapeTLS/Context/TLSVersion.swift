internal import COpenSSL

/// A version of TLS that can be spoken; SSL 2 and 3 cannot.
public enum TLSVersion: String, Sendable, Hashable, CaseIterable, Comparable {
    case tls10 = "1.0"
    case tls11 = "1.1"
    case tls12 = "1.2"
    case tls13 = "1.3"

    public static func < (left: TLSVersion, right: TLSVersion) -> Bool { left.number < right.number }

    /// As on the wire (RFC 8446, 4.2.1).
    var number: Int32 {
        switch self {
        case .tls10: TLS1_VERSION
        case .tls11: TLS1_1_VERSION
        case .tls12: TLS1_2_VERSION
        case .tls13: TLS1_3_VERSION
        }
    }

    /// RFC 8996 deprecates the versions below 1.2: OpenSSL speaks them at its security level 0 alone, since their handshakes are
    /// signed with SHA-1.
    var isDeprecated: Bool { self < .tls12 }
}
