public import CassetteModel

/// The request line and header section of a request, as received.
///
/// The target is visible ASCII but otherwise unchecked: see `RequestTarget`.
public struct RequestHead: Sendable, Hashable {
    public var method: String
    public var target: String
    public var version: HTTPVersion
    public var fields: HeaderFields

    public init(method: String, target: String, version: HTTPVersion, fields: HeaderFields) {
        self.method = method
        self.target = target
        self.version = version
        self.fields = fields
    }
}
