public import TapeBytes

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
