/// A request's method: a token in which case counts (RFC 9110, 9.1).
public struct HTTPMethod: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    public static let connect = HTTPMethod(rawValue: "CONNECT")
    public static let delete = HTTPMethod(rawValue: "DELETE")
    public static let get = HTTPMethod(rawValue: "GET")
    public static let head = HTTPMethod(rawValue: "HEAD")
    public static let options = HTTPMethod(rawValue: "OPTIONS")
    public static let patch = HTTPMethod(rawValue: "PATCH")
    public static let post = HTTPMethod(rawValue: "POST")
    public static let put = HTTPMethod(rawValue: "PUT")
    /// Safe and idempotent, with a body.
    public static let query = HTTPMethod(rawValue: "QUERY")
    public static let trace = HTTPMethod(rawValue: "TRACE")

    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    public var description: String { self.rawValue }

    /// Whether sending it twice is meant to do what sending it once does (RFC 9110, 9.2.2).
    public var isIdempotent: Bool { Self.idempotent.contains(self) }

    /// RFC 9110, 9.2.2, and QUERY.
    public static let idempotent: Set<HTTPMethod> = [.delete, .get, .head, .options, .put, .query, .trace]
}

extension HTTPMethod: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self.init(rawValue: value) }
}
