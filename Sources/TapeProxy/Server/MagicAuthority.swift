/// The certificate authority as the magic host hands it out: its certificate, never its key.
struct MagicAuthority: Sendable, Hashable {
    /// As systems list it: the common name.
    var name: String
    /// SHA-256 of the DER, 32 octets.
    var fingerprint: [UInt8]
    var pem: [UInt8]
    var der: [UInt8]
    /// PKCS #12 with the certificate alone.
    var p12: [UInt8]
    /// What opens `p12`; told to everybody, since it guards nothing.
    var p12Password: String
}
