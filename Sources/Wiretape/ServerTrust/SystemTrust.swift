#if canImport(Security)
internal import Foundation
internal import Security

/// What Apple's Security framework says of a server's certificates.
///
/// The judgement is `ServerTrustEvaluation`'s, which is tested everywhere; this part is compiled on Apple platforms alone.
struct SystemTrust {
    private let trust: SecTrust

    init(_ trust: SecTrust) { self.trust = trust }

    /// The chain in DER, leaf first.
    var chain: [[UInt8]] {
        let certificates = SecTrustCopyCertificateChain(self.trust) as? [SecCertificate] ?? []
        return certificates.map { [UInt8](SecCertificateCopyData($0) as Data) }
    }

    /// Blocks while the system looks for missing certificates: not for the main thread.
    func answer(_ question: ServerTrustEvaluation.Question, for host: String) -> Result<[[UInt8]], ServerTrustError> {
        let policy = SecPolicyCreateSSL(true, question.host.map { $0 as CFString })
        guard SecTrustSetPolicies(self.trust, policy) == errSecSuccess else {
            return .failure(self.untrusted(host, "its policy cannot be set"))
        }
        if let anchors = question.anchors {
            let certificates = anchors.compactMap { SecCertificateCreateWithData(nil, Data($0) as CFData) }
            guard SecTrustSetAnchorCertificates(self.trust, certificates as CFArray) == errSecSuccess,
                SecTrustSetAnchorCertificatesOnly(self.trust, true) == errSecSuccess
            else { return .failure(self.untrusted(host, "the pinned certificates cannot be its anchors")) }
        }
        var error: CFError?
        guard SecTrustEvaluateWithError(self.trust, &error) else {
            return .failure(self.untrusted(host, error.map { ($0 as any Error).localizedDescription } ?? "the system does not say why"))
        }
        return .success(self.chain)
    }

    private func untrusted(_ host: String, _ reason: String) -> ServerTrustError {
        ServerTrustError(
            .untrusted,
            "the certificates of \"\(host)\" are not trusted, \(reason): trust their authority, or pin them in the ServerTrustManager")
    }
}

extension ServerTrustManager {
    /// Answers a challenge of URLSession for a server's certificates; other challenges are none of its business.
    ///
    /// - Parameter report: why a server is refused, before URLSession says "cancelled".
    func answer(
        _ challenge: URLAuthenticationChallenge, report: (ServerTrustError) -> Void
    ) -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        let space = challenge.protectionSpace
        guard space.authenticationMethod == NSURLAuthenticationMethodServerTrust, let trust = space.serverTrust else {
            return (.performDefaultHandling, nil)
        }
        guard let policy = self.trust(forHost: space.host, port: space.port) else {
            guard self.allHostsMustBeEvaluated else { return (.performDefaultHandling, nil) }
            report(ServerTrustRule.noPolicy(space.host))
            return (.cancelAuthenticationChallenge, nil)
        }
        let system = SystemTrust(trust)
        let failure = ServerTrustEvaluation(trust: policy, host: space.host).judge(system.chain) { system.answer($0, for: space.host) }
        guard let failure else { return (.useCredential, URLCredential(trust: trust)) }
        report(failure)
        return (.cancelAuthenticationChallenge, nil)
    }
}
#endif
