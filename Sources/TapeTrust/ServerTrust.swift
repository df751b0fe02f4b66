public import TapeBytes

/// What an upstream's certificate must prove before anything is sent to it: the five policies of Alamofire 4's `ServerTrustPolicy`.
///
/// Describes the policy and checks nothing itself. Not Equatable, because a custom policy contains a function.
public enum ServerTrust: Sendable {
    /// `performDefaultEvaluation`: the chain ends in an authority that the system (or the user) trusts, each certificate is currently
    /// valid, and, with `validatesHost`, the leaf names the host (RFC 9110, 4.3.4).
    case defaultEvaluation(validatesHost: Bool = true)
    /// `pinCertificates`: one of these certificates (DER) is in the server's chain.
    ///
    /// With `validatesChain`, they are the only anchors: a self-signed certificate is enough, and the system's authorities do not count.
    /// Without it, the server's own certificate must be one of them, expired or not; the certificates that it sends after that prove
    /// nothing.
    case pinnedCertificates([[UInt8]], validatesChain: Bool = true, validatesHost: Bool = true)
    /// `pinPublicKeys`: a certificate of the server's chain has one of these keys, each the SHA-256 of its SubjectPublicKeyInfo
    /// (RFC 7469, 2.4; see `PublicKeyPin`).
    ///
    /// With `validatesChain`, the chain must also pass the default evaluation. Without it, the key must be the server's own.
    case pinnedPublicKeys([[UInt8]], validatesChain: Bool = true, validatesHost: Bool = true)
    /// `disableEvaluation`: any server is accepted as the host. For tests only: anyone on the path can read and change everything.
    case disabled
    /// `customEvaluation`: only the function decides, from the chain as sent (DER, leaf first) and the host; nothing else is checked.
    case custom(@Sendable (_ chain: [[UInt8]], _ host: String) -> Bool)
}

/// The SHA-256 of a certificate's SubjectPublicKeyInfo (RFC 7469, 2.4). The key can stay the same when a certificate is renewed.
///
/// Reads no certificate: the caller computes the digest.
public struct PublicKeyPin: Sendable, Hashable, CustomStringConvertible {
    /// 32 bytes.
    public let digest: [UInt8]

    /// Nil if the digest does not have 32 bytes.
    public init?(digest: [UInt8]) {
        guard digest.count == 32 else { return nil }
        self.digest = digest
    }

    /// Parses `sha256/` (or curl's `sha256//`) and the digest in base64, with or without padding.
    public init(_ text: String) throws(SettingSyntaxError) {
        let example = "write sha256/ and the digest of the public key in base64, 44 characters"
        guard let slash = text.firstIndex(of: "/") else { throw SettingSyntaxError("\"\(text)\" is not a public key pin; \(example)") }
        let algorithm = text[..<slash]
        guard algorithm == "sha256" else {
            throw SettingSyntaxError("\"\(text)\" uses the digest \"\(algorithm)\", and only sha256 is supported; \(example)")
        }
        var base64 = Array(text[slash...].dropFirst().utf8)
        // RFC 4648, 4: the base64 of 32 bytes may itself begin with a slash, so curl's second slash is recognised by the length.
        if base64.count > 43, base64.first == UInt8(ascii: "/"), base64.count != 44 || base64.last != UInt8(ascii: "=") {
            base64.removeFirst()
        }
        if base64.count == 43 { base64.append(UInt8(ascii: "=")) }
        guard let digest = Base64.decode(base64) else { throw SettingSyntaxError("the pin \"\(text)\" is not base64; \(example)") }
        guard digest.count == 32 else {
            throw SettingSyntaxError("the pin \"\(text)\" holds \(digest.count) bytes, and a SHA-256 has 32; \(example)")
        }
        self.digest = digest
    }

    /// `sha256/` and the digest in base64.
    public var description: String {
        var text = Array("sha256/".utf8)
        self.digest.withUnsafeBytes { Base64.encode($0, into: &text) }
        return String(decoding: text, as: UTF8.self)
    }
}
