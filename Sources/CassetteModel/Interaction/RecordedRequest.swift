public import TapeBytes

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
