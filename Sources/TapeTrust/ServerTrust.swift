/// What an upstream's certificate must prove before anything is sent to it: the five policies that Alamofire 4 calls `ServerTrustPolicy`.
///
/// Says what is wanted and checks nothing itself. It cannot be compared, since a custom policy holds a function.
public enum ServerTrust: Sendable {
    /// `performDefaultEvaluation`: the chain ends in an authority that the system (or the user) trusts, each certificate is valid now,
    /// and, where wanted, the leaf names the host (RFC 9110, 4.3.4).
    case defaultEvaluation(validatesHost: Bool = true)
    /// `pinCertificates`: one of these certificates (DER) is in the server's chain.
    ///
    /// With `validatesChain` they are the only anchors, so that a self-signed one is enough and the system's authorities count for nothing;
    /// without, the server's own certificate has to be one of them, however old it is: what it sends behind that proves nothing.
    case pinnedCertificates([[UInt8]], validatesChain: Bool = true, validatesHost: Bool = true)
    /// `pinPublicKeys`: a certificate of the server's chain has one of these keys, each the SHA-256 of its SubjectPublicKeyInfo
    /// (RFC 7469, 2.4; see `PublicKeyPin`).
    ///
    /// With `validatesChain` the chain must also hold by the default evaluation; without, the key has to be the server's own.
    case pinnedPublicKeys([[UInt8]], validatesChain: Bool = true, validatesHost: Bool = true)
    /// `disableEvaluation`: whoever answers is taken for the host. For tests of one's own; anybody on the way can read and change everything.
    case disabled
    /// `customEvaluation`: the function alone decides, from the chain as it was sent (DER, leaf first) and the host; nothing else is checked.
    case custom(@Sendable (_ chain: [[UInt8]], _ host: String) -> Bool)
}
