public import TapeBytes

/// One recorded exchange: a request and what came back.
public struct Interaction: Sendable, Hashable {
    /// Counts up from 1 in order of request start; unique within a cassette.
    public var id: Int
    public var started: Timestamp
    public var request: RecordedRequest
    /// 1xx responses that came before the final one.
    public var interim: [InterimResponse]
    /// Nil when the exchange failed before a response head came.
    public var response: RecordedResponse?
    public var outcome: Outcome
    public var timing: Timing
    public var connection: ConnectionInfo?
    /// Byte counts of the tunnel that a 101 answer opened.
    public var tunnel: TunnelCounts?
    /// Members that this version does not know, kept through a rewrite.
    public var unknown: [UnknownMember]

    public init(
        id: Int, started: Timestamp, request: RecordedRequest, interim: [InterimResponse] = [],
        response: RecordedResponse? = nil, outcome: Outcome = .complete, timing: Timing = Timing(),
        connection: ConnectionInfo? = nil, tunnel: TunnelCounts? = nil, unknown: [UnknownMember] = []
    ) {
        self.id = id
        self.started = started
        self.request = request
        self.interim = interim
        self.response = response
        self.outcome = outcome
        self.timing = timing
        self.connection = connection
        self.tunnel = tunnel
        self.unknown = unknown
    }
}

extension Interaction {
    /// Whether a body waits for its readable form.
    public var isUndeveloped: Bool {
        self.request.body?.isUndeveloped(self.request.headers) == true
            || self.response.map { $0.body?.isUndeveloped($0.headers) == true } == true
    }
}

extension Interaction {
    /// The bodies there are, with the message each belongs to and its header fields.
    package var bodies: [(message: String, body: Body, headers: HeaderFields)] {
        var bodies: [(message: String, body: Body, headers: HeaderFields)] = []
        if let body = self.request.body { bodies.append(("request", body, self.request.headers)) }
        if let response = self.response, let body = response.body { bodies.append(("response", body, response.headers)) }
        return bodies
    }
}

/// How an exchange ended.
public enum Outcome: Sendable, Hashable {
    /// Both messages came to their framed end.
    case complete
    /// A message ended before its framed end; what came is kept.
    case cut(Cut)
    /// No response came.
    case failed(Failure)
}

/// How many bytes crossed a tunnel each way; the bytes themselves are not recorded.
public struct TunnelCounts: Sendable, Hashable {
    /// From the client to the origin.
    public var sent: Int
    /// From the origin to the client.
    public var received: Int
    public var unknown: [UnknownMember]

    public init(sent: Int, received: Int, unknown: [UnknownMember] = []) {
        self.sent = sent
        self.received = received
        self.unknown = unknown
    }
}

/// A transport error that took the place of a response; replayed as the same error.
public struct Failure: Sendable, Hashable {
    /// Platform-neutral kinds, so that a failure recorded on one system replays on another.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case dns, refused, unreachable, reset, timeout, tls, truncated, cancelled, malformed
    }

    public var kind: Kind
    /// In plain words, for people.
    public var message: String
    public var unknown: [UnknownMember]

    public init(kind: Kind, message: String, unknown: [UnknownMember] = []) {
        self.kind = kind
        self.message = message
        self.unknown = unknown
    }
}

/// Why a message stopped before its framed end.
public struct Cut: Sendable, Hashable {
    public enum Party: String, Sendable, Hashable, CaseIterable {
        case client, origin, recorder
    }

    /// Who ended it.
    public var by: Party
    /// In plain words, for people.
    public var reason: String
    public var unknown: [UnknownMember]

    public init(by: Party, reason: String, unknown: [UnknownMember] = []) {
        self.by = by
        self.reason = reason
        self.unknown = unknown
    }
}

/// The upstream connection that carried an exchange.
public struct ConnectionInfo: Sendable, Hashable {
    /// Counts up from 1 within one recording.
    public var id: Int
    /// Address and port of the origin, as `127.0.0.1:9000` or `[::1]:9000`.
    public var remote: String
    /// Whether an earlier exchange used the same connection.
    public var isReused: Bool
    /// Nil where the connection had no TLS, or the handshake failed before anything was agreed on.
    public var tls: TLSDetails?
    public var unknown: [UnknownMember]

    public init(id: Int, remote: String, isReused: Bool, tls: TLSDetails? = nil, unknown: [UnknownMember] = []) {
        self.id = id
        self.remote = remote
        self.isReused = isReused
        self.tls = tls
        self.unknown = unknown
    }
}

/// A 1xx response that preceded the final one (RFC 9110, 15.2).
public struct InterimResponse: Sendable, Hashable {
    public var version: HTTPVersion
    public var status: Int
    public var reason: [UInt8]
    /// As in `RecordedResponse`.
    public var omitsReasonSpace = false
    public var headers: HeaderFields
    /// Milliseconds since the exchange started.
    public var at: Double
    public var unknown: [UnknownMember]

    public init(version: HTTPVersion, status: Int, reason: [UInt8], headers: HeaderFields, at: Double, unknown: [UnknownMember] = []) {
        self.version = version
        self.status = status
        self.reason = reason
        self.headers = headers
        self.at = at
        self.unknown = unknown
    }
}

/// A request as the client sent it.
public struct RecordedRequest: Sendable, Hashable {
    public var method: String
    /// The absolute URL, as sent in absolute-form, or put together from scheme, Host and target.
    public var url: String
    /// The request target as sent, where it is neither `url` nor the origin-form of `url`.
    public var target: String?
    public var version: HTTPVersion
    public var headers: HeaderFields
    /// Nil when the message had no body framing at all; an empty body has size 0.
    public var body: Body?
    /// Nil without a trailer section; only chunked messages have one.
    public var trailers: HeaderFields?
    public var unknown: [UnknownMember]

    public init(
        method: String, url: String, target: String? = nil, version: HTTPVersion = .http11, headers: HeaderFields = HeaderFields(),
        body: Body? = nil, trailers: HeaderFields? = nil, unknown: [UnknownMember] = []
    ) {
        self.method = method
        self.url = url
        self.target = target
        self.version = version
        self.headers = headers
        self.body = body
        self.trailers = trailers
        self.unknown = unknown
    }
}

/// How long the phases of one exchange took, in milliseconds; nil where a phase did not happen.
///
/// The phases follow HAR 1.2: a reused connection has no `dns`, `connect` or `tls`.
public struct Timing: Sendable, Hashable {
    /// Waiting for a connection.
    public var blocked: Double?
    public var dns: Double?
    public var connect: Double?
    public var tls: Double?
    /// From the first to the last byte of the request.
    public var send: Double?
    /// From the last byte of the request to the first of the response.
    public var wait: Double?
    /// From the first to the last byte of the response.
    public var receive: Double?
    public var total: Double?
    public var unknown: [UnknownMember]

    public init(
        blocked: Double? = nil, dns: Double? = nil, connect: Double? = nil, tls: Double? = nil, send: Double? = nil,
        wait: Double? = nil, receive: Double? = nil, total: Double? = nil, unknown: [UnknownMember] = []
    ) {
        self.blocked = blocked
        self.dns = dns
        self.connect = connect
        self.tls = tls
        self.send = send
        self.wait = wait
        self.receive = receive
        self.total = total
        self.unknown = unknown
    }
}

/// What was agreed with an origin in a TLS handshake.
///
/// A reference to values that never change, so that the exchanges of one connection share it.
public final class TLSDetails: Sendable, Hashable {
    /// GnuTLS does not verify longer chains either (DEFAULT_MAX_VERIFY_DEPTH), and public ones have two to four certificates.
    public static let mostCertificates = 16

    /// As OpenSSL names it: `TLSv1.3`.
    public let version: String
    /// As OpenSSL names it: `TLS_AES_256_GCM_SHA384`.
    public let cipher: String
    /// The protocol chosen by ALPN (RFC 7301); nil where none was.
    public let alpn: String?
    /// The server name that was asked for (RFC 6066, 3); nil where none was.
    public let sni: String?
    /// Whether an earlier session was taken up again, in which case the certificates are those of the earlier handshake.
    public let isResumed: Bool
    /// The origin's certificates, the leaf first; only with the exchange that opened the connection.
    public let chain: [RecordedCertificate]
    public let unknown: [UnknownMember]
    /// The text of the whole member, where `withoutChain` made it once for many exchanges.
    package let text: [UInt8]?

    /// Keeps the first certificates of a chain that has more than `mostCertificates`.
    public convenience init(
        version: String, cipher: String, alpn: String? = nil, sni: String? = nil, isResumed: Bool = false,
        chain: [RecordedCertificate] = [], unknown: [UnknownMember] = []
    ) {
        self.init(
            version: version, cipher: cipher, alpn: alpn, sni: sni, isResumed: isResumed, chain: Array(chain.prefix(Self.mostCertificates)),
            unknown: unknown, text: nil)
    }

    package init(
        version: String, cipher: String, alpn: String?, sni: String?, isResumed: Bool, chain: [RecordedCertificate],
        unknown: [UnknownMember], text: [UInt8]?
    ) {
        self.version = version
        self.cipher = cipher
        self.alpn = alpn
        self.sni = sni
        self.isResumed = isResumed
        self.chain = chain
        self.unknown = unknown
        self.text = text
    }

    public static func == (left: TLSDetails, right: TLSDetails) -> Bool {
        left === right
            || left.version == right.version && left.cipher == right.cipher && left.alpn == right.alpn && left.sni == right.sni
                && left.isResumed == right.isResumed && left.chain == right.chain && left.unknown == right.unknown
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.version)
        hasher.combine(self.cipher)
        hasher.combine(self.alpn)
        hasher.combine(self.sni)
        hasher.combine(self.isResumed)
        hasher.combine(self.chain)
        hasher.combine(self.unknown)
    }
}

/// What a cassette keeps of one certificate that an origin sent.
///
/// Holds no certificate: its digest tells whether it is one that somebody has.
public struct RecordedCertificate: Sendable, Hashable {
    /// SHA-256 of the certificate's DER, as 64 lower-case hex digits.
    public var sha256: String
    /// Distinguished names on one line, as `CN=example.com,O=Example`.
    public var subject: String
    public var issuer: String
    public var notBefore: Timestamp
    public var notAfter: Timestamp
    public var unknown: [UnknownMember]

    public init(
        sha256: String, subject: String, issuer: String, notBefore: Timestamp, notAfter: Timestamp, unknown: [UnknownMember] = []
    ) {
        self.sha256 = sha256
        self.subject = subject
        self.issuer = issuer
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.unknown = unknown
    }
}
