/// A part that two requests must have in common: one of the rules of the command line's `--match`, checked by the compiler.
///
///     @Test(.cassette("pets/list", matching: [.method, .path, .query]))
///
/// A string literal is a rule in the syntax of the command line, checked when the cassette is opened.
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
    /// The query's items, in any order.
    public static let query = Self("query")
    /// The order of the query's items as well.
    public static let queryOrder = Self("query-order")
    /// Scheme, host, port, path and query.
    public static let url = Self("url")
    /// Compares by the kind of the body: JSON by value, XML by element, forms by field, multipart by part, everything else byte by byte.
    public static let body = Self("body")
    /// The order of the parts of a multipart body as well.
    public static let partOrder = Self("part-order")
    /// The operation and its variables (GraphQL over HTTP).
    public static let graphQL = Self("graphql")

    /// All values of a header field.
    public static func header(_ name: String) -> Self { Self("header:\(name)") }

    /// The body, compared as this kind whatever its Content-Type says.
    public static func body(_ kind: BodyKind) -> Self { Self("body:\(kind.rawValue)") }

    public enum BodyKind: String, Sendable, Hashable, CaseIterable {
        case bytes, json, xml, form, multipart, text
    }
}

/// A place in a request that is not compared: one of the places of the command line's `--ignore`, checked by the compiler.
///
///     @Test(.cassette("pets/add", ignoring: [.query("ts"), .json("/sent_at"), .part("photo").fileName]))
///
/// A string literal is a place in the syntax of the command line, checked when the cassette is opened.
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

    /// All query items with this name, which is written decoded.
    public static func query(_ name: String) -> Self { Self("query:\(name)") }

    public static func header(_ name: String) -> Self { Self("header:\(name)") }

    /// - Parameter pointer: a JSON Pointer (RFC 6901); a segment `*` is any member or element.
    public static func json(_ pointer: String) -> Self { Self("json:\(pointer)") }

    /// Elements of XML by their local names, `/a/b`, or an attribute, `/a/@c`.
    public static func xml(_ path: String) -> Self { Self("xml:\(path)") }

    /// A field of gRPC messages, by the numbers or names of the fields that lead to it: `/1/2`.
    public static func grpc(_ fields: String) -> Self { Self("grpc:\(fields)") }

    /// All form fields with this name.
    public static func form(_ name: String) -> Self { Self("form:\(name)") }

    /// All parts of a multipart body with this name; `outer/inner` is a part inside a part.
    public static func part(_ name: String) -> Self { Self("part:\(name)") }

    /// A place in the content of the parts or fields that this place names: `.part("meta").content(.json("/id"))`.
    public func content(_ inner: RequestPlace) -> Self {
        Self("\(self.description)|\(inner.description)")
    }

    /// The parts with this name, to ignore one property of them and compare the rest.
    // Without a type, `.part(_:)` is a place.
    @_disfavoredOverload
    public static func part(_ name: String) -> Part { Part(name: name) }

    public struct Part: Sendable, Hashable {
        let name: String

        /// The file name, which many clients generate.
        public var fileName: RequestPlace { RequestPlace("filename:\(self.name)") }
    }
}
