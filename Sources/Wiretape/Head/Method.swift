#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

extension HTTPSession {
    /// A request's method: a case-sensitive token (RFC 9110, 9.1).
    public struct Method: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        public static let connect = Method(rawValue: "CONNECT")
        public static let delete = Method(rawValue: "DELETE")
        public static let get = Method(rawValue: "GET")
        public static let head = Method(rawValue: "HEAD")
        public static let options = Method(rawValue: "OPTIONS")
        public static let patch = Method(rawValue: "PATCH")
        public static let post = Method(rawValue: "POST")
        public static let put = Method(rawValue: "PUT")
        /// Safe and idempotent, with a body.
        public static let query = Method(rawValue: "QUERY")
        public static let trace = Method(rawValue: "TRACE")

        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        public var description: String { self.rawValue }

        /// Whether sending a request twice is meant to have the same effect as sending it once (RFC 9110, 9.2.2).
        public var isIdempotent: Bool { Self.idempotent.contains(self) }

        /// RFC 9110, 9.2.2, and QUERY.
        public static let idempotent: Set<Method> = [.delete, .get, .head, .options, .put, .query, .trace]
    }
}

extension HTTPSession.Method: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self.init(rawValue: value) }
}

extension URLRequest {
    /// The fields sorted by name. A `URLRequest` keeps neither order nor duplicates, and on Linux not the spelling of names.
    ///
    /// Setting replaces all fields and joins those of one name. On Linux, Foundation drops a field whose value has a line end.
    public var headers: HTTPSession.Headers {
        get { HTTPSession.Headers(self.allHTTPHeaderFields ?? [:]) }
        set {
            // On Apple's systems, assigning a dictionary keeps fields of the old one.
            for name in (self.allHTTPHeaderFields ?? [:]).keys { self.setValue(nil, forHTTPHeaderField: name) }
            for (name, value) in newValue.dictionary { self.setValue(value, forHTTPHeaderField: name) }
        }
    }

    /// Nil if `httpMethod` is.
    public var method: HTTPSession.Method? {
        get { self.httpMethod.map(HTTPSession.Method.init(rawValue:)) }
        set { self.httpMethod = newValue?.rawValue }
    }

    /// - Throws: the error of the URL's conversion, or `HTTPSession.HeaderError`.
    public init(url: any HTTPSession.URLConvertible, method: HTTPSession.Method, headers: HTTPSession.Headers? = nil) throws {
        self.init(url: try url.asURL())
        self.method = method
        if let headers { self.headers = try headers.validated() }
    }
}
