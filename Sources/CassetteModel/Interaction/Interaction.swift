public import TapeBytes

/// One recorded exchange: a request and its response.
public struct Interaction: Sendable, Hashable {
    /// Counted from 1 in order of request start; unique within a cassette.
    public var id: Int
    public var started: Timestamp
    public var request: RecordedRequest
    /// 1xx responses received before the final one.
    public var interim: [InterimResponse]
    /// Nil if the exchange failed before a response head arrived.
    public var response: RecordedResponse?
    public var outcome: Outcome
    public var timing: Timing
    public var connection: ConnectionInfo?
    /// Byte counts of the tunnel opened by a 101 response.
    public var tunnel: TunnelCounts?
    /// The messages of the WebSocket opened by the response; nil if it opened none, or the messages were not recorded.
    public var webSocket: WebSocketMessages?
    /// The traffic rules that applied to the exchange; nil if none did.
    public var modified: Modification?
    /// Whether a replay may send the answer any number of times, as for a login. Written by hand, and for stubs of other tools; a recording
    /// never has it.
    public var repeats = false
    /// What the exchange compares if it was made from another tool's stub; nil for all others. Among the stubs that match a request, the
    /// earliest answers.
    public var stub: StubConditions?
    /// Members that this version does not know; they are kept when the cassette is rewritten.
    public var unknown: [UnknownMember]

    public init(
        id: Int, started: Timestamp, request: RecordedRequest, interim: [InterimResponse] = [],
        response: RecordedResponse? = nil, outcome: Outcome = .complete, timing: Timing = Timing(),
        connection: ConnectionInfo? = nil, tunnel: TunnelCounts? = nil, webSocket: WebSocketMessages? = nil,
        modified: Modification? = nil, unknown: [UnknownMember] = []
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
        self.webSocket = webSocket
        self.modified = modified
        self.unknown = unknown
    }
}

extension Interaction {
    /// The bodies, each with the name of its message and its header fields.
    package var bodies: [(message: String, body: Body, headers: HeaderFields)] {
        var bodies: [(message: String, body: Body, headers: HeaderFields)] = []
        if let body = self.request.body { bodies.append(("request", body, self.request.headers)) }
        if let response = self.response, let body = response.body { bodies.append(("response", body, response.headers)) }
        return bodies
    }

    /// The same exchange with the names of the fields in its gRPC messages, as far as the schema has them.
    public func named(by schema: ProtoSchema?) -> Interaction {
        guard let types = schema?.types(ofURL: self.request.url) else { return self }
        var interaction = self
        if case .grpc(let messages) = self.request.body?.content {
            interaction.request.body?.content = .grpc(messages.named(types.request))
        }
        if case .grpc(let messages) = self.response?.body?.content {
            interaction.response?.body?.content = .grpc(messages.named(types.response))
        }
        return interaction
    }

    /// Whether a body has not been decoded into its readable form yet.
    public var isUndecoded: Bool {
        if let body = self.request.body, body.isUndecoded(self.request.headers) { return true }
        guard let body = self.response?.body, let headers = self.response?.headers else { return false }
        return body.isUndecoded(headers)
    }
}

/// How an exchange ended.
public enum Outcome: Sendable, Hashable {
    /// Both messages reached their framed end.
    case complete
    /// A message ended before its framed end; what arrived is kept.
    case cut(Cut)
    /// No response arrived.
    case failed(Failure)
}

/// Why a message stopped before its framed end.
public struct Cut: Sendable, Hashable {
    public enum Party: String, Sendable, Hashable, CaseIterable {
        case client, origin, recorder
    }

    /// The party that ended it.
    public var by: Party
    /// The failure that the recording client library reported for the exchange, or `reset` if the proxy's client got the same reset as the
    /// proxy; nil if it is unknown.
    public var kind: Failure.Kind?
    /// In plain words, for people.
    public var reason: String
    /// The error code of HTTP/2 with which the origin ended its stream, if the proxy's client got the same (RFC 9113, 7); nil otherwise.
    public var code: Int?
    public var unknown: [UnknownMember]

    public init(by: Party, kind: Failure.Kind? = nil, reason: String, code: Int? = nil, unknown: [UnknownMember] = []) {
        self.by = by
        self.kind = kind
        self.code = code
        self.reason = reason
        self.unknown = unknown
    }

    /// Whether the client ended it because its caller cancelled, so that the rest of the answer is unknown.
    public var isCancellation: Bool { self.by == .client && self.kind == .cancelled }

    /// Whether the origin reset its connection or its stream in the middle of the answer, and the client got the same.
    public var isReset: Bool { self.by == .origin && (self.kind == .reset || self.code != nil) }

    /// Whether the origin broke its connection or its stream in the middle of the answer, and the client got the same.
    public var isBreak: Bool { self.by == .origin && (self.kind == .reset || self.kind == .truncated || self.code != nil) }
}

/// A transport error instead of a response; it is replayed as the same error.
public struct Failure: Sendable, Hashable {
    /// Platform-neutral kinds, so that a failure recorded on one system can be replayed on another.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case dns, refused, unreachable, reset, timeout, tls, truncated, cancelled, malformed
        /// The origin refused the request without acting on it, so it can be sent again (RFC 9113, 8.7).
        case unprocessed
    }

    public var kind: Kind
    /// In plain words, for people.
    public var message: String
    /// What the client received instead of an answer; nil for the proxy's own page.
    public var answered: Answer?
    /// Whether the origin closed its connection in order (FIN) without an answer. Other failures of the kind `reset` broke it (RST).
    public var isClose: Bool
    /// The error code of HTTP/2 with which the origin ended its stream (RFC 9113, 7); nil if it did not.
    public var code: Int?
    public var unknown: [UnknownMember]

    /// What a client receives when the origin fails.
    public enum Answer: String, Sendable, Hashable, CaseIterable {
        /// The proxy's own answer that explains the failure, usually a 502.
        case page
        /// The end of its connection, or of its stream in HTTP/2.
        case `break`
    }

    public init(
        kind: Kind, message: String, answered: Answer? = nil, isClose: Bool = false, code: Int? = nil, unknown: [UnknownMember] = []
    ) {
        self.kind = kind
        self.code = code
        self.message = message
        self.answered = answered
        self.isClose = isClose
        self.unknown = unknown
    }

    /// Whether a client that gets the same end of its connection sees a reset.
    public var isReset: Bool { self.kind == .reset && !self.isClose }

    /// Whether the origin accepted the request and broke off, or answered with something other than HTTP. Without a proxy, the client would
    /// see a broken connection.
    public var isBreak: Bool {
        switch self.kind {
        case .reset, .truncated, .malformed: true
        case .dns, .refused, .unreachable, .timeout, .tls, .cancelled, .unprocessed: false
        }
    }
}

/// How long the phases of one exchange took, in milliseconds; nil if a phase did not happen.
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

/// How many bytes crossed a tunnel in each direction; the bytes themselves are not recorded.
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
