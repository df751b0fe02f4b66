internal import TapeBytes

/// The SHA-256 of a certificate's SubjectPublicKeyInfo (RFC 7469, 2.4): the key stays the same where a certificate is renewed.
///
/// Reads no certificate: whoever holds one makes the digest.
public struct PublicKeyPin: Sendable, Hashable, CustomStringConvertible {
    /// 32 octets.
    public let digest: [UInt8]

    /// Nil where the digest does not have 32 octets.
    public init?(digest: [UInt8]) {
        guard digest.count == 32 else { return nil }
        self.digest = digest
    }

    /// Reads `sha256/` (or curl's `sha256//`) and the digest in base64, with or without its padding.
    public init(_ text: String) throws(PinError) {
        let example = "write sha256/ and the digest of the public key in base64, 44 characters"
        guard let slash = text.firstIndex(of: "/") else { throw PinError("\"\(text)\" is no public key pin; \(example)") }
        let algorithm = text[..<slash]
        guard algorithm == "sha256" else {
            throw PinError("\"\(text)\" is a pin of kind \"\(algorithm)\", and only sha256 is known; \(example)")
        }
        var base64 = Array(text[slash...].dropFirst().utf8)
        // RFC 4648, 4: the first character of 32 octets may be a slash itself, so curl's second one is told by the length.
        if base64.count > 43, base64.first == UInt8(ascii: "/"), base64.count != 44 || base64.last != UInt8(ascii: "=") {
            base64.removeFirst()
        }
        if base64.count == 43 { base64.append(UInt8(ascii: "=")) }
        guard let digest = Base64.decode(base64) else { throw PinError("the pin \"\(text)\" is not base64; \(example)") }
        guard digest.count == 32 else {
            throw PinError("the pin \"\(text)\" holds \(digest.count) octets, and a SHA-256 has 32; \(example)")
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

/// A text that names no public key pin.
public struct PinError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong with which text, and what to write instead.
    public var message: String

    public init(_ message: String) { self.message = message }

    public var description: String { self.message }
}
