internal import TapeTrust

#if canImport(Security)
internal import Foundation
internal import Security
#endif

/// Evaluates a server's certificates by a policy.
///
/// Reads names and keys itself, and asks the system whether a chain is valid.
struct ServerTrustEvaluation: Sendable {
    /// The question for the system: whether the chain is valid for a host.
    struct Question: Sendable, Hashable {
        /// The only trusted authorities, in DER; nil for those of the system.
        var anchors: [[UInt8]]?
        /// Nil if any host is accepted.
        var host: String?
    }

    var trust: ServerTrust
    /// As in a URL, an IPv6 address with or without brackets.
    var host: String

    /// - Parameters:
    ///   - sent: the chain as it was sent, in DER, the server's own certificate first.
    ///   - system: answers with the chain that it has built, leaf first, or with the reason why there is none.
    /// - Returns: nil if the server is trusted.
    func evaluate(_ sent: [[UInt8]], system: (Question) -> Result<[[UInt8]], ServerTrustError>) -> ServerTrustError? {
        switch self.trust {
        case .defaultEvaluation(let validatesHost):
            return self.failure(system(Question(host: validatesHost ? self.host : nil)))
        case .pinnedCertificates(let pins, let validatesChain, let validatesHost):
            let question = Question(anchors: pins, host: validatesHost ? self.host : nil)
            return self.proven(sent, validatesChain ? question : nil, validatesHost: validatesHost, system: system) { pins.contains($0) }
        case .pinnedPublicKeys(let pins, let validatesChain, let validatesHost):
            let question = Question(host: validatesHost ? self.host : nil)
            return self.proven(sent, validatesChain ? question : nil, validatesHost: validatesHost, system: system) { der in
                Certificate(der)?.publicKeyPin.map { pins.contains($0.digest) } ?? false
            }
        case .disabled: return nil
        case .custom(let evaluate):
            guard evaluate(sent, self.host) else {
                return ServerTrustError(
                    .refusedByPolicy, "the custom evaluation refuses the certificates of \"\(self.host)\": check its conditions")
            }
            return nil
        }
    }

    /// Without validation only the first certificate is checked: the server has proved possession of that key only, and could send any
    /// other certificates.
    private func proven(
        _ sent: [[UInt8]], _ question: Question?, validatesHost: Bool,
        system: (Question) -> Result<[[UInt8]], ServerTrustError>, isPinned: ([UInt8]) -> Bool
    ) -> ServerTrustError? {
        let candidates: [[UInt8]]
        if let question {
            switch system(question) {
            case .success(let chain): candidates = chain
            case .failure(let error): return error
            }
        } else {
            candidates = Array(sent.prefix(1))
            if validatesHost, !(candidates.first.flatMap { Certificate($0) }?.names(self.host) ?? false) {
                return ServerTrustError(
                    .hostMismatch,
                    "the certificate of \"\(self.host)\" is for other hosts: use a host that it names, or pin without validatesHost"
                )
            }
        }
        guard candidates.contains(where: isPinned) else {
            return ServerTrustError(
                .pinMismatch, "no certificate or key of \"\(self.host)\" is pinned: pin a current one if it is the right server")
        }
        return nil
    }

    private func failure(_ result: Result<[[UInt8]], ServerTrustError>) -> ServerTrustError? {
        if case .failure(let error) = result { error } else { nil }
    }
}

#if canImport(Security)
/// Asks Apple's Security framework whether a server's certificates are valid.
///
/// Makes no decisions: `ServerTrustEvaluation` makes them, and is tested on all platforms.
struct SystemTrust {
    private let trust: SecTrust

    init(_ trust: SecTrust) { self.trust = trust }

    /// The chain in DER, leaf first.
    var chain: [[UInt8]] {
        let certificates = SecTrustCopyCertificateChain(self.trust) as? [SecCertificate] ?? []
        return certificates.map { [UInt8](SecCertificateCopyData($0) as Data) }
    }

    /// Blocks while the system fetches missing certificates: not for the main thread.
    func answer(_ question: ServerTrustEvaluation.Question, for host: String) -> Result<[[UInt8]], ServerTrustError> {
        let policy = SecPolicyCreateSSL(true, question.host.map { $0 as CFString })
        guard SecTrustSetPolicies(self.trust, policy) == errSecSuccess else {
            return .failure(self.untrusted(host, "its policy cannot be set"))
        }
        if let anchors = question.anchors {
            let certificates = anchors.compactMap { SecCertificateCreateWithData(nil, Data($0) as CFData) }
            guard SecTrustSetAnchorCertificates(self.trust, certificates as CFArray) == errSecSuccess,
                SecTrustSetAnchorCertificatesOnly(self.trust, true) == errSecSuccess
            else { return .failure(self.untrusted(host, "the pinned certificates cannot be set as anchors")) }
        }
        var error: CFError?
        guard SecTrustEvaluateWithError(self.trust, &error) else {
            return .failure(self.untrusted(host, error.map { ($0 as any Error).localizedDescription } ?? "the system gives no reason"))
        }
        return .success(self.chain)
    }

    private func untrusted(_ host: String, _ reason: String) -> ServerTrustError {
        ServerTrustError(
            .untrusted,
            "the certificates of \"\(host)\" are not trusted (\(reason)): trust their authority, or pin them in the ServerTrustManager")
    }
}

extension HTTPSession.ServerTrustManager {
    /// Answers a challenge of URLSession for a server's certificates; other challenges get default handling.
    ///
    /// - Parameter report: called with the reason if a server is refused, before URLSession reports "cancelled".
    func answer(
        _ challenge: URLAuthenticationChallenge, report: (ServerTrustError) -> Void
    ) -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        let space = challenge.protectionSpace
        guard space.authenticationMethod == NSURLAuthenticationMethodServerTrust, let trust = space.serverTrust else {
            return (.performDefaultHandling, nil)
        }
        guard let policy = self.trust(forHost: space.host, port: space.port) else {
            guard self.allHostsMustBeEvaluated else { return (.performDefaultHandling, nil) }
            report(HTTPSession.ServerTrustRule.noPolicy(space.host))
            return (.cancelAuthenticationChallenge, nil)
        }
        let system = SystemTrust(trust)
        let failure = ServerTrustEvaluation(trust: policy, host: space.host).evaluate(system.chain) { system.answer($0, for: space.host) }
        guard let failure else { return (.useCredential, URLCredential(trust: trust)) }
        report(failure)
        return (.cancelAuthenticationChallenge, nil)
    }
}
#endif
