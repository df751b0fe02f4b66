public import TapeTrust

extension ServerTrust {
    /// What the platform does by itself: a trusted chain, valid now, for the host.
    public static var `default`: ServerTrust { .defaultEvaluation() }

    /// One of the certificates of files.
    public static func pinnedCertificates(in file: CertificateFile, validatesChain: Bool = true, validatesHost: Bool = true) -> ServerTrust
    {
        .pinnedCertificates(file.certificates, validatesChain: validatesChain, validatesHost: validatesHost)
    }

    /// One of these keys.
    public static func pinnedKeys(_ pins: [PublicKeyPin], validatesChain: Bool = true, validatesHost: Bool = true) -> ServerTrust {
        .pinnedPublicKeys(pins.map(\.digest), validatesChain: validatesChain, validatesHost: validatesHost)
    }

    /// The key of one of the certificates of files.
    public static func pinnedKeys(in file: CertificateFile, validatesChain: Bool = true, validatesHost: Bool = true) -> ServerTrust {
        .pinnedKeys(file.publicKeyPins, validatesChain: validatesChain, validatesHost: validatesHost)
    }
}
