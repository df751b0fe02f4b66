public import Foundation

/// What can say where a request goes: a `String`, a `URL`, `URLComponents`, or a type of one's own.
public protocol URLConvertible: Sendable {
    /// - Throws: `URLConversionError`, or an error of the type's own.
    func asURL() throws -> URL
}

extension String: URLConvertible {
    /// The URL whose request target is what is written, octet by octet, where that is valid (RFC 3986). What a URL cannot hold as it is
    /// (spaces, Hangul, brackets in a query) is percent-encoded once; percent-encodings that are there stay as they are written. A host
    /// outside ASCII becomes its A-labels.
    ///
    /// - Throws: `URLConversionError` for a text without scheme or host, with a "%" that no two hex digits follow, or with control characters.
    public func asURL() throws -> URL { try URLText(self).url }
}

extension URL: URLConvertible {
    public func asURL() throws -> URL { self }
}

extension URLComponents: URLConvertible {
    /// - Throws: `URLConversionError` for components that make no URL together, as a path without a slash behind a host.
    public func asURL() throws -> URL {
        guard let url = self.url else {
            throw URLConversionError(
                .notAURL, "the components with host \"\(self.host ?? "")\" and path \"\(self.path)\" make no URL: begin the path with \"/\""
            )
        }
        return url
    }
}
