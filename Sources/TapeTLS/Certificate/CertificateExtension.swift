internal import COpenSSL

/// An extension that an authority writes into a certificate (RFC 5280, 4.2), in DER form.
struct CertificateExtension: Hashable, Sendable {
    let identifier: Int32
    let isCritical: Bool
    let value: [UInt8]

    /// May sign other certificates, to any depth.
    static let authority = Self(
        identifier: NID_basic_constraints, isCritical: true, value: DER.element(DER.sequence, [0x01, 0x01, 0xFF])
    )
    /// May sign no certificates: an empty sequence, since false is the default and DER leaves defaults out.
    static let endEntity = Self(identifier: NID_basic_constraints, isCritical: true, value: DER.element(DER.sequence, []))
    /// keyCertSign and cRLSign.
    static let signsCertificates = Self(identifier: NID_key_usage, isCritical: true, value: DER.bits([5, 6]))
    /// digitalSignature: all that a key needs where the key exchange is ephemeral.
    static let signsHandshakes = Self(identifier: NID_key_usage, isCritical: true, value: DER.bits([0]))
    /// id-kp-serverAuth, 1.3.6.1.5.5.7.3.1.
    static let servesTLS = Self(
        identifier: NID_ext_key_usage, isCritical: false,
        value: DER.element(DER.sequence, DER.element(0x06, [0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01]))
    )

    /// Any unique value will do (RFC 7093, 2); here the first 160 bits of a digest of the public key.
    static func keyIdentifier(_ publicKeyDigest: [UInt8]) -> Self {
        Self(identifier: NID_subject_key_identifier, isCritical: false, value: DER.element(0x04, Array(publicKeyDigest.prefix(20))))
    }

    /// The key identifier as it stands in the authority's certificate.
    static func authorityKeyIdentifier(_ identifier: [UInt8]) -> Self {
        Self(
            identifier: NID_authority_key_identifier, isCritical: false,
            value: DER.element(DER.sequence, DER.element(0x80, identifier))
        )
    }

    /// Critical where the subject is empty (RFC 5280, 4.2.1.6).
    static func alternativeNames(_ names: LeafNames, isCritical: Bool) -> Self {
        var content: [UInt8] = []
        for name in names.dnsNames { content += DER.element(0x82, Array(name.utf8)) }
        for address in names.addresses { content += DER.element(0x87, address) }
        return Self(identifier: NID_subject_alt_name, isCritical: isCritical, value: DER.element(DER.sequence, content))
    }
}
