public import TapeBytes

/// A final response as the origin sent it, hop-by-hop fields included.
public struct RecordedResponse: Sendable, Hashable {
    public var status: Int
    /// The reason phrase; empty where there was none.
    public var reason: [UInt8]
    /// The status line ended behind the status, without the space that comes before an empty reason.
    public var omitsReasonSpace = false
    public var version: HTTPVersion
    public var headers: HeaderFields
    /// Nil when the message cannot have a body (HEAD, 1xx, 204, 304); an empty body has size 0.
    public var body: Body?
    public var trailers: HeaderFields?
    /// The fields as received that describe octets with content codings, where the recorder was given the body without: its HTTP client
    /// had taken them off. `headers` and `body` go together: without these fields, and with the length of the body.
    public var codedHeaders: HeaderFields?
    public var unknown: [UnknownMember]

    public init(
        status: Int, reason: [UInt8] = [], version: HTTPVersion = .http11, headers: HeaderFields = HeaderFields(), body: Body? = nil,
        trailers: HeaderFields? = nil, unknown: [UnknownMember] = []
    ) {
        self.status = status
        self.reason = reason
        self.version = version
        self.headers = headers
        self.body = body
        self.trailers = trailers
        self.unknown = unknown
    }
}
