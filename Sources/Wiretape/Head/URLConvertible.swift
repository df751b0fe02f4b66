public import TapeBytes
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension HTTPSession {
    /// Something that names the URL of a request: a `String`, a `URL`, `URLComponents`, or the caller's own type.
    public protocol URLConvertible: Sendable {
        /// - Throws: `URLConversionError`, or the type's own error.
        func asURL() throws -> URL
    }
}

extension String: HTTPSession.URLConvertible {
    /// The URL with exactly this request target, if it is valid (RFC 3986). Characters that a URL cannot contain (spaces, Hangul, brackets
    /// in a query) are percent-encoded once; existing percent-encodings stay as written. A host outside ASCII becomes its A-labels.
    ///
    /// - Throws: `URLConversionError` if the text has no scheme or host, a "%" not followed by two hex digits, or a control character.
    public func asURL() throws -> URL { try URLText(self).url }
}

extension URL: HTTPSession.URLConvertible {
    public func asURL() throws -> URL { self }
}

extension URLComponents: HTTPSession.URLConvertible {
    /// - Throws: `URLConversionError` if the components make no URL, as with a host and a path without a leading slash.
    public func asURL() throws -> URL {
        guard let url = self.url else {
            throw URLConversionError(
                .notAURL,
                "the components with host \"\(self.host ?? "")\" and path \"\(self.path)\" do not form a URL: begin the path with \"/\""
            )
        }
        return url
    }
}

/// The base of URLs that have no scheme. Their path is appended to the base's, so that `/pets` with the base `https://a.test/v1` is
/// `https://a.test/v1/pets`.
struct BaseURL {
    private let base: URL?

    init(_ base: URL?) { self.base = base }

    /// - Throws: `URLConversionError`, or the type's own error.
    func url(of given: any HTTPSession.URLConvertible) throws -> URL {
        guard let base else { return try given.asURL() }
        switch given {
        case let text as String: return URLText.hasScheme(text) ? try text.asURL() : try Self.joined(base, text)
        case let parts as URLComponents where parts.scheme == nil && parts.host == nil:
            guard let text = parts.string else { return try parts.asURL() }
            return try Self.joined(base, text)
        case _:
            let url = try given.asURL()
            return url.scheme == nil ? try Self.joined(base, url.relativeString) : url
        }
    }

    /// The base's query and fragment are left out.
    private static func joined(_ base: URL, _ reference: String) throws -> URL {
        let text = base.absoluteString
        let end = text.utf8.firstIndex { "?#".utf8.contains($0) } ?? text.endIndex
        let stem = text[..<end].hasSuffix("/") ? text[..<end].dropLast() : text[..<end]
        guard let first = reference.utf8.first else { return try String(stem).asURL() }
        return try (String(stem) + ("/?#".utf8.contains(first) ? "" : "/") + reference).asURL()
    }
}

extension HTTPSession {
    /// Something that describes a whole request: a `URLRequest`, or a router with a case for each request.
    public protocol URLRequestConvertible: Sendable {
        /// - Throws: the error that the request fails with.
        func asURLRequest() throws -> URLRequest

        /// A name for the request in a recording; nil for none. Not compared when requests are matched.
        ///
        /// By default the name of an enum's case, without its values.
        var requestLabel: String? { get }
    }
}

extension HTTPSession.URLRequestConvertible {
    public var requestLabel: String? {
        let mirror = Mirror(reflecting: self)
        guard mirror.displayStyle == .enum else { return nil }
        return mirror.children.first?.label ?? (mirror.children.isEmpty ? "\(self)" : nil)
    }

    /// The request; nil if the conversion throws.
    public var urlRequest: URLRequest? { try? self.asURLRequest() }
}

extension URLRequest: HTTPSession.URLRequestConvertible {
    public func asURLRequest() throws -> URLRequest { self }
    public var requestLabel: String? { nil }
}

/// An error in the URL of a request.
///
/// The message names the URL, what is wrong with it, and what to do next.
public typealias URLConversionError = CodedError<HTTPSession.URLConversionErrorCode>

extension HTTPSession {
    /// A kind of error; more kinds may be added.
    public struct URLConversionErrorCode: Hashable, Sendable, CustomStringConvertible {
        private enum Value { case notAURL, noScheme, noHost, invalidHost, invalidPort, invalidPercent, invalidCharacter }

        private var value: Value

        public static var notAURL: Self { Self(value: .notAURL) }
        /// No `https:` at the start.
        public static var noScheme: Self { Self(value: .noScheme) }
        public static var noHost: Self { Self(value: .noHost) }
        public static var invalidHost: Self { Self(value: .invalidHost) }
        public static var invalidPort: Self { Self(value: .invalidPort) }
        /// A percent sign that is not followed by two hex digits.
        public static var invalidPercent: Self { Self(value: .invalidPercent) }
        /// A control character.
        public static var invalidCharacter: Self { Self(value: .invalidCharacter) }

        public var description: String { "\(self.value)" }
    }
}
