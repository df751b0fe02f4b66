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

/// A response whose content codings were taken off before anybody could record their octets (docs/decisions/0022-decoded-bodies.md).
extension RecordedResponse {
    /// Of the coded octets, not of the content (RFC 9110, 8.4 and 8.6; RFC 9530, 2; RFC 3230, 4.3.2; RFC 1864).
    private static let names: [StaticString] = ["content-encoding", "content-length", "content-digest", "digest", "content-md5"]

    /// Moves the fields that describe coded octets to `codedHeaders`, where there is a coding; else nothing changes.
    ///
    /// - Parameter size: of the body without codings; nil where its end did not come. No length fits then, and chunks take its place: without
    ///   the last one nobody takes the body for a whole one (RFC 9112, 8).
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

    /// The fields as the recording's client received them: those of the coded octets among the others, a length in its place.
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
