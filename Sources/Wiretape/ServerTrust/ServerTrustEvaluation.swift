internal import TapeTrust

/// Judges a server's certificates by a policy.
///
/// Reads names and keys itself; whether a chain holds only the system can say, and it is asked.
struct ServerTrustEvaluation: Sendable {
    /// What the system is asked: does the chain hold?
    struct Question: Sendable, Hashable {
        /// The only authorities that count (DER); nil for those of the system.
        var anchors: [[UInt8]]?
        /// Nil where any name will do.
        var host: String?
    }

    var trust: ServerTrust
    /// As in a URL, an IPv6 address with or without brackets.
    var host: String

    /// - Parameters:
    ///   - sent: the chain as it was sent, in DER, the server's own certificate first.
    ///   - system: the chain that it built, leaf first, or what is wrong.
    /// - Returns: nil where the server is trusted.
    func judge(_ sent: [[UInt8]], system: (Question) -> Result<[[UInt8]], ServerTrustError>) -> ServerTrustError? {
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
                    .refusedByPolicy, "the custom evaluation refuses the certificates of \"\(self.host)\": see what it looks at")
            }
            return nil
        }
    }

    /// A chain that was not validated proves the possession of its first key alone: anybody can send a stranger's certificate behind his own.
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
                    "the certificate of \"\(self.host)\" is for other hosts: ask for a host that it names, or pin without validatesHost"
                )
            }
        }
        guard candidates.contains(where: isPinned) else {
            return ServerTrustError(
                .pinMismatch, "nothing that \"\(self.host)\" has shown is pinned: pin what it uses now, if it is the right server")
        }
        return nil
    }

    private func failure(_ result: Result<[[UInt8]], ServerTrustError>) -> ServerTrustError? {
        if case .failure(let error) = result { error } else { nil }
    }
}
