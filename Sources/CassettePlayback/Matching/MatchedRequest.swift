public import CassetteModel

/// A request as a custom rule sees it: live or recorded.
public struct MatchedRequest: Sendable {
    public var method: String
    public var url: String
    public var headers: HeaderFields
    /// Nil where it was not looked at.
    public var body: BodyFacets?

    public init(method: String, url: String, headers: HeaderFields, body: BodyFacets? = nil) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}
