/// What of two requests has to be equal: a rule of the command line's `--match`, checked when compiled.
///
///     @Test(.cassette("pets/list", matching: [.method, .path, .query]))
///
/// A string is a rule in the text of the command line, checked when the cassette is opened.
public struct RequestRule: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// In the syntax of `--match`.
    public let description: String

    public init(_ text: String) { self.description = text }
    public init(stringLiteral text: String) { self.init(text) }

    public static let method = Self("method")
    public static let scheme = Self("scheme")
    public static let host = Self("host")
    public static let port = Self("port")
    public static let path = Self("path")
    /// Its items in any order.
    public static let query = Self("query")
    /// The order of the query's items, too.
    public static let queryOrder = Self("query-order")
    /// Scheme, host, port, path and query.
    public static let url = Self("url")
    /// By the kind of the body: JSON by value, XML by element, forms by field, multipart by part, all else byte by byte.
    public static let body = Self("body")
    /// The order of the parts of a multipart body, too.
    public static let partOrder = Self("part-order")
    /// The operation and its variables (GraphQL over HTTP).
    public static let graphQL = Self("graphql")

    /// All values of a header field.
    public static func header(_ name: String) -> Self { Self("header:\(name)") }

    /// The body by one kind, whatever its type says.
    public static func body(_ kind: BodyKind) -> Self { Self("body:\(kind.rawValue)") }

    public enum BodyKind: String, Sendable, Hashable, CaseIterable {
        case bytes, json, xml, form, multipart, text
    }
}

/// A place in a request that is not compared: one of the command line's `--ignore`, checked when compiled.
///
///     @Test(.cassette("pets/add", ignoring: [.query("ts"), .json("/sent_at"), .part("photo").fileName]))
///
/// A string is a place in the text of the command line, checked when the cassette is opened.
public struct RequestPlace: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// In the syntax of `--ignore`.
    public let description: String

    public init(_ text: String) { self.description = text }
    public init(stringLiteral text: String) { self.init(text) }

    public static let method = Self("method")
    public static let scheme = Self("scheme")
    public static let host = Self("host")
    public static let port = Self("port")
    public static let path = Self("path")
    /// The whole query.
    public static let query = Self("query")
    public static let body = Self("body")

    /// All query items of a name, written decoded.
    public static func query(_ name: String) -> Self { Self("query:\(name)") }

    public static func header(_ name: String) -> Self { Self("header:\(name)") }

    /// - Parameter pointer: a JSON Pointer (RFC 6901); a segment `*` is any member or element.
    public static func json(_ pointer: String) -> Self { Self("json:\(pointer)") }

    /// Elements of XML by their local names, `/a/b`, or an attribute, `/a/@c`.
    public static func xml(_ path: String) -> Self { Self("xml:\(path)") }

    /// A field of gRPC messages, by the numbers or the names of the fields on the way to it: `/1/2`.
    public static func grpc(_ fields: String) -> Self { Self("grpc:\(fields)") }

    /// All fields of a form with a name.
    public static func form(_ name: String) -> Self { Self("form:\(name)") }

    /// All parts of a multipart body with a name; for a part of a part, `outer/inner`.
    public static func part(_ name: String) -> Self { Self("part:\(name)") }

    /// A place in the content of the parts or fields that this place names: `.part("meta").content(.json("/id"))`.
    public func content(_ inner: RequestPlace) -> Self {
        Self("\(self.description)|\(inner.description)")
    }

    /// Of the parts with a name, something of which the rest is compared.
    // Without a type, `.part(_:)` is a place.
    @_disfavoredOverload
    public static func part(_ name: String) -> Part { Part(name: name) }

    public struct Part: Sendable, Hashable {
        let name: String

        /// The file name, which many clients make up.
        public var fileName: RequestPlace { RequestPlace("filename:\(self.name)") }
    }
}
