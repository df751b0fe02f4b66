public import CassetteModel

/// The status line and header section of a response, as received.
public struct ResponseHead: Sendable, Hashable {
    public var version: HTTPVersion
    public var status: Int
    public var reason: [UInt8]
    /// The line ended behind the status: not even the space before the (empty) reason was there.
    public var omitsReasonSpace: Bool
    public var fields: HeaderFields

    public init(version: HTTPVersion, status: Int, reason: [UInt8], omitsReasonSpace: Bool = false, fields: HeaderFields) {
        self.version = version
        self.status = status
        self.reason = reason
        self.omitsReasonSpace = omitsReasonSpace && reason.isEmpty
        self.fields = fields
    }
}
