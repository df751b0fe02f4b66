public import TapeBytes

/// A request as the client sent it.
public struct RecordedRequest: Sendable, Hashable {
    public var method: String
    /// The protocol requested by an extended CONNECT, such as `websocket` (RFC 8441, 4); nil for all other requests. The method is then
    /// GET, as in the equivalent HTTP/1.1 request.
    public var connectProtocol: String?
    /// The absolute URL, as sent in absolute-form or built from scheme, Host and target.
    public var url: String
    /// The request target as sent; nil if it is `url` or its origin-form.
    public var target: String?
    public var version: HTTPVersion
    public var headers: HeaderFields
    /// Nil if the message had no body framing; an empty body has size 0.
    public var body: Body?
    /// Nil if there was no trailer section; only chunked messages have one.
    public var trailers: HeaderFields?
    /// A sentence for people on parts that were not recorded as they arrived.
    public var note: String?
    public var unknown: [UnknownMember]

    public init(
        method: String, connectProtocol: String? = nil, url: String, target: String? = nil, version: HTTPVersion = .http11,
        headers: HeaderFields = HeaderFields(), body: Body? = nil, trailers: HeaderFields? = nil, unknown: [UnknownMember] = []
    ) {
        self.method = method
        self.connectProtocol = connectProtocol
        self.url = url
        self.target = target
        self.version = version
        self.headers = headers
        self.body = body
        self.trailers = trailers
        self.unknown = unknown
    }
}

/// A final response as the origin sent it, including hop-by-hop fields.
public struct RecordedResponse: Sendable, Hashable {
    public var status: Int
    /// The reason phrase; empty if there was none.
    public var reason: [UInt8]
    /// Whether the status line ended after the status, without the space that should precede even an empty reason (RFC 9112, 4).
    public var omitsReasonSpace = false
    public var version: HTTPVersion
    public var headers: HeaderFields
    /// Nil if the message cannot have a body (HEAD, 1xx, 204, 304); an empty body has size 0.
    public var body: Body?
    public var trailers: HeaderFields?
    /// The received fields that describe the coded bytes, if the recorder's HTTP client removed the content codings before the recorder saw
    /// the body. `headers` then lacks these fields and has the length of `body`. Nil otherwise.
    public var codedHeaders: HeaderFields?
    /// If the answer began while the client was still sending gRPC messages: how many of them were complete; nil for all of them and the
    /// client's end.
    public var after: Int?
    /// The same for the end of the answer, including trailers: for a server that ends while the client is still sending.
    public var endAfter: Int?
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

/// A response whose content codings were removed before the recorder saw its bytes (docs/decisions/0022-decoded-bodies.md).
extension RecordedResponse {
    /// Fields that describe the coded bytes rather than the content (RFC 9110, 8.4 and 8.6; RFC 9530, 2; RFC 3230, 4.3.2; RFC 1864).
    private static let names: [StaticString] = ["content-encoding", "content-length", "content-digest", "digest", "content-md5"]

    /// Moves the fields that describe coded bytes to `codedHeaders`. Does nothing if there is no coding.
    ///
    /// - Parameter size: the size of the body without codings; nil if its end did not arrive. Chunked coding then replaces the length:
    ///   without the last chunk, no client considers the body complete (RFC 9112, 8).
    public mutating func bodyWasDecoded(size: Int?) {
        guard self.codedHeaders == nil, self.headers.contains("content-encoding") else { return }
        var kept = HeaderFields()
        var coded = HeaderFields()
        for index in 0..<self.headers.count {
            guard Self.names.contains(where: { self.headers.isNamed($0, at: index) }) else {
                kept.append(line: self.headers.line(at: index))
                continue
            }
            coded.append(line: self.headers.line(at: index))
            guard self.headers.isNamed("content-length", at: index), !self.headers.contains("transfer-encoding") else { continue }
            if let size, !kept.contains("content-length") {
                kept.append(name: self.headers.name(at: index), value: String(size))
            } else if size == nil, !kept.contains("transfer-encoding") {
                kept.append(name: "Transfer-Encoding", value: "chunked")
            }
        }
        self.headers = kept
        self.codedHeaders = coded
    }

    /// The fields as the client received them during the recording, including those that describe the coded bytes.
    public var receivedHeaders: HeaderFields {
        guard let codedHeaders else { return self.headers }
        var fields = HeaderFields()
        let hadLength = codedHeaders.contains("content-length")
        for index in 0..<self.headers.count {
            let isLength = self.headers.isNamed("content-length", at: index) || self.headers.isNamed("transfer-encoding", at: index)
            if !(isLength && hadLength) { fields.append(line: self.headers.line(at: index)) }
        }
        for index in 0..<codedHeaders.count { fields.append(line: codedHeaders.line(at: index)) }
        return fields
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

/// The protocol version in a message's start line.
public struct HTTPVersion: Sendable, Hashable, Comparable, CustomStringConvertible {
    public var major: Int
    public var minor: Int

    public init(major: Int, minor: Int) {
        self.major = major
        self.minor = minor
    }

    public static let http10 = HTTPVersion(major: 1, minor: 0)
    public static let http11 = HTTPVersion(major: 1, minor: 1)
    public static let http2 = HTTPVersion(major: 2, minor: 0)

    public static func < (left: HTTPVersion, right: HTTPVersion) -> Bool {
        (left.major, left.minor) < (right.major, right.minor)
    }

    public var description: String { self == .http11 ? "HTTP/1.1" : "HTTP/\(self.major).\(self.minor)" }
}
