internal import TapeTLS
internal import TapeTrust

extension PeerPolicy {
    /// The same policy in the words of TapeTLS.
    init(_ trust: ServerTrust) {
        switch trust {
        case .defaultEvaluation(let validatesHost):
            self = .defaultEvaluation(validatesHost: validatesHost)
        case .pinnedCertificates(let certificates, let validatesChain, let validatesHost):
            self = .pinnedCertificates(certificates, validatesChain: validatesChain, validatesHost: validatesHost)
        case .pinnedPublicKeys(let digests, let validatesChain, let validatesHost):
            self = .pinnedPublicKeys(digests, validatesChain: validatesChain, validatesHost: validatesHost)
        case .disabled:
            self = .disabled
        case .custom(let evaluate):
            self = .custom(evaluate)
        }
    }
}
