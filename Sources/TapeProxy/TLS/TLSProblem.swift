internal import TapeExchange
internal import CassetteModel
internal import TapeBytes
internal import TapeTLS

/// A TLS failure as a message for people: the host, the direction, the problem and what to do about it.
struct TLSProblem: Sendable, Hashable, CustomStringConvertible {
    enum Leg: Sendable, Hashable {
        /// Between the client and the proxy.
        case client
        /// Between the proxy and the origin.
        case upstream
    }

    var leg: Leg
    var host: String
    var port: Int
    var failure: TLSFailure
    /// The handshake was complete, but no byte followed.
    var isAfterHandshake = false

    private var authority: String {
        let host = self.host.utf8.contains(UInt8(ascii: ":")) ? "[\(self.host)]" : self.host
        return self.port == 443 ? host : "\(host):\(self.port)"
    }

    var description: String {
        switch self.leg {
        case .client:
            "TLS from the client for \"\(self.authority)\": \(self.isAfterHandshake ? self.messageAfterHandshake : self.clientMessage)"
        case .upstream: "TLS to \"\(self.authority)\": \(self.failure.message): \(self.upstreamAdvice)"
        }
    }

    // MARK: From the client

    private var clientMessage: String {
        switch self.failure.cause {
        case .certificateRejected:
            "the client rejected wiretape's certificate (\(self.failure.reasons.first ?? "no reason given")): \(self.trustAdvice)"
        case .closed:
            "the client closed the connection \(self.moment), which most often means that it does not trust wiretape's CA: "
                + self.trustAdvice
        case .reset:
            "the client reset the connection \(self.moment), which most often means that it does not trust wiretape's CA: "
                + self.trustAdvice
        case .noSharedVersion:
            "the client supports no TLS version that is allowed here: --tls-min 1.0 allows old ones."
        case .noSharedCipher:
            "the client supports no cipher that is allowed here: --tls-min 1.0 allows old ones, \(self.passthrough) leaves it alone."
        case .noSharedProtocol:
            "the client does not speak HTTP/1.1: \(self.passthrough) leaves it alone."
        case .timeout:
            "\(self.failure.message): is the client still running? \(self.passthrough) leaves it alone."
        case .expired, .notYetValid:
            "the client rejected wiretape's certificate as not valid now (\(self.failure.message)): compare the clocks."
        case .unknownAuthority, .selfSigned, .nameMismatch, .pinMismatch, .refusedByPolicy, .certificateRequired, .notTLS, .malformed,
            .other:
            "\(self.failure.message): \(self.passthrough) leaves it alone."
        }
    }

    /// The message for a client that left after the handshake. A missing version or cipher cannot be the reason then.
    private var messageAfterHandshake: String {
        switch self.failure.cause {
        case .closed:
            "the client closed the connection \(self.moment), which most often means that it does not trust wiretape's CA: \(self.trustAdvice)"
        case .reset:
            "the client reset the connection \(self.moment), which most often means that it does not trust wiretape's CA: \(self.trustAdvice)"
        case .certificateRejected, .noSharedVersion, .noSharedCipher, .noSharedProtocol, .expired, .notYetValid, .unknownAuthority,
            .selfSigned,
            .nameMismatch, .pinMismatch, .refusedByPolicy, .certificateRequired, .notTLS, .timeout, .malformed, .other:
            "the client ended the connection \(self.moment) (\(self.failure.reasons.first ?? self.failure.message)): \(self.trustAdvice)"
        }
    }

    private var moment: String { self.isAfterHandshake ? "right after the handshake" : "during the handshake" }

    private var trustAdvice: String {
        "\"wiretape ca install\" makes this machine trust it, \"--trust namespace -- COMMAND\" one program; if it pins certificates, \(self.passthrough) leaves it alone."
    }

    private var passthrough: String { "--passthrough \(self.pattern)" }

    private var pattern: String { self.authority }

    // MARK: To the origin

    private var upstreamAdvice: String {
        switch self.failure.cause {
        case .unknownAuthority, .selfSigned:
            "--upstream-ca FILE trusts its authority, --insecure-upstream \(self.pattern) accepts any certificate."
        case .expired, .notYetValid:
            "have it renewed, or compare the clocks; --insecure-upstream \(self.pattern) accepts it."
        case .nameMismatch:
            "correct the name in the URL, or have the certificate issued for it; --insecure-upstream \(self.pattern) accepts it."
        case .pinMismatch:
            "correct --pin, or find out who answers there."
        case .refusedByPolicy:
            "the trust evaluation set for this host rejected it."
        case .noSharedVersion, .noSharedCipher:
            "--upstream-tls-min 1.0 allows old origins."
        case .noSharedProtocol:
            "it speaks neither HTTP/1.1 nor HTTP/2: --passthrough \(self.pattern) leaves it alone."
        case .certificateRequired, .certificateRejected:
            "--client-cert \(self.pattern)=CERT.pem,KEY.pem sends it the certificate it requires."
        case .notTLS:
            "is this port meant for http?"
        case .timeout, .closed, .reset:
            "is it up, and does it speak TLS?"
        case .malformed, .other:
            "--passthrough \(self.pattern) leaves it alone."
        }
    }
}

/// Reports each TLS problem to people once, no matter how often and on how many event loops it occurs.
final class Diagnosis: Sendable {
    private struct Key: Hashable {
        var leg: TLSProblem.Leg
        var host: String
        var port: Int
        var cause: String
    }

    /// More distinct problems than anyone would read.
    private static let limit = 200

    private let counts: Guarded<ProxyCounts>
    private let log: ProxyLog
    private let notice: @Sendable (String) -> Void
    private let told = Guarded<Set<Key>>([])
    /// Where requests for a name went first.
    private let servers = Guarded<[String: String]>([:])
    private let suspicions = Guarded(Suspicions())

    /// Connections that clients closed after the handshake, either because they lack trust or because they did not need them.
    private struct Suspicions {
        var list: [TLSProblem] = []
        /// A request has arrived through TLS, so the clients trust Wiretape's CA.
        var areRefuted = false
    }

    init(counts: Guarded<ProxyCounts>, log: ProxyLog = ProxyLog(), notice: @escaping @Sendable (String) -> Void) {
        self.counts = counts
        self.log = log
        self.notice = notice
    }

    func report(_ problem: TLSProblem) {
        self.counts.withLock { $0.tlsFailures += 1 }
        self.log.tlsFailed(problem.leg, host: problem.host, port: problem.port, cause: problem.failure.cause)
        let key = Key(leg: problem.leg, host: problem.host, port: problem.port, cause: problem.failure.cause.rawValue)
        if self.isNew(key) { self.notice(problem.description) }
    }

    /// A possible problem: a client has left without a request.
    func suspect(_ problem: TLSProblem) {
        self.suspicions.withLock { suspicions in
            guard !suspicions.areRefuted, suspicions.list.count < Self.limit else { return }
            suspicions.list.append(problem)
        }
    }

    /// A request has arrived through TLS.
    func clientTrusts() {
        self.suspicions.withLock { $0 = Suspicions(areRefuted: true) }
    }

    /// The session has ended. Reports the suspicions if no request of any kind arrived: otherwise its clients got what they wanted.
    func end(hasRequests: Bool) {
        let list = self.suspicions.withLock { suspicions in
            defer { suspicions.list = [] }
            return suspicions.list
        }
        guard !hasRequests else { return }
        for problem in list { self.report(problem) }
    }

    /// Reports something that is not a failure, once for each text.
    func remark(_ text: String) {
        let key = Key(leg: .client, host: text, port: 0, cause: "")
        if self.isNew(key) { self.notice(text) }
    }

    /// Reports that requests for one name go to several servers, although they have the same URL.
    ///
    /// - Parameters:
    ///   - port: of a client's connection. It is in the URL.
    ///   - server: the address and port of the connection.
    func led(_ name: String, port: Int, to server: String) {
        guard IPAddress(name) == nil else { return }
        let key = "\(name):\(port)"
        let first = self.servers.withLock { servers -> String? in
            if let first = servers[key] { return first }
            if servers.count < Self.limit { servers[key] = server }
            return nil
        }
        guard let first, first != server else { return }
        self.remark(
            "requests for \"\(name)\" go to \(first) and to \(server): a replay does not tell these servers apart, and answers equal requests in recorded order."
        )
    }

    private func isNew(_ key: Key) -> Bool {
        self.told.withLock { $0.count < Self.limit && $0.insert(key).inserted }
    }
}

extension RecordedCertificate {
    init(_ certificate: CertificateSummary) {
        self.init(
            sha256: Hex.encode(certificate.fingerprint), subject: certificate.subject, issuer: certificate.issuer,
            notBefore: Timestamp(seconds: certificate.notBefore), notAfter: Timestamp(seconds: certificate.notAfter))
    }
}

extension Timestamp {
    /// A certificate's time, which may be arbitrarily far in the past or future.
    fileprivate init(seconds: Int64) {
        self.init(microseconds: seconds.multipliedReportingOverflow(by: 1_000_000).overflow ? 0 : seconds * 1_000_000)
    }
}
