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
