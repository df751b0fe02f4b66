/// How a server's certificates are judged, on a client's side.
///
/// The judgement itself is made by `PeerVerifier`.
public enum PeerPolicy: Sendable {
    /// A chain to a root of the context (RFC 5280, 6), and, where asked, a name that is the host's (RFC 9525).
    case defaultEvaluation(validatesHost: Bool = true)
    /// One of these certificates, in DER, is in the chain; where the chain is validated, they alone are its anchors, and where not, the
    /// server's own certificate has to be one of them.
    case pinnedCertificates([[UInt8]], validatesChain: Bool = true, validatesHost: Bool = true)
    /// One of these keys, as SHA-256 of the SubjectPublicKeyInfo (RFC 7469, 2.4), is in the chain; where that is not validated, it has to
    /// be the server's own.
    case pinnedPublicKeys([[UInt8]], validatesChain: Bool = true, validatesHost: Bool = true)
    /// Anything goes.
    case disabled
    /// The chain in DER, the server's own certificate first, and the host; nothing else is looked at.
    case custom(@Sendable (_ chain: [[UInt8]], _ host: String) -> Bool)

    /// Whether the certificate has to be for the host.
    var validatesHost: Bool {
        switch self {
        case .defaultEvaluation(let validatesHost): validatesHost
        case .pinnedCertificates(_, _, let validatesHost): validatesHost
        case .pinnedPublicKeys(_, _, let validatesHost): validatesHost
        case .disabled, .custom: false
        }
    }
}
