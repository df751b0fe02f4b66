#if HTTPTypes
public import Foundation
public import HTTPTypes
public import Wiretape

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension HTTPTypes.HTTPRequest {
    /// The head of a request. Its authority is that of the URL, and it has no Host field.
    ///
    /// - Throws: an error for a method or a field that cannot be sent.
    public init(_ request: TransportRequest) throws {
        guard let method = Method(rawValue: request.method) else {
            throw WiretapeError(.invalidRequest, "\"\(request.method)\" is not a method: use a token, such as GET")
        }
        var headers = request.headers
        headers.remove(name: "Host")
        let (scheme, authority, path) = Self.parts(of: request.url)
        self.init(method: method, scheme: scheme, authority: authority, path: path, headerFields: try HTTPFields(headers))
    }

    /// The escapes of the URL are unchanged. The fragment, which is never sent, is left out.
    private static func parts(of url: URL) -> (scheme: String?, authority: String?, path: String) {
        let text = url.absoluteString.prefix { $0 != "#" }
        guard let colon = text.firstRange(of: "://") else { return (nil, nil, String(text)) }
        let rest = text[colon.upperBound...]
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let authority = rest[..<end]
        // User information is not part of it (RFC 9110, 7.2).
        let host = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        let path = rest[end...]
        return (String(text[..<colon.lowerBound]), String(host), path.hasPrefix("/") ? String(path) : "/\(path)")
    }

    /// - Throws: an error for a request without scheme or authority.
    fileprivate func url() throws -> URL {
        let path = self.path ?? "/"
        guard let scheme = self.scheme, let authority = self.authority, !authority.isEmpty else {
            throw WiretapeError(
                .invalidRequest, "the HTTPRequest for the path \"\(path.prefix { $0 != "?" })\" has no scheme or no authority: set both")
        }
        return try "\(scheme)://\(authority)\(path)".asURL()
    }
}

extension TransportRequest {
    /// A request with this head.
    ///
    /// - Throws: an error if the head has no scheme or no authority, or if they are not those of a URL.
    public init(_ request: HTTPTypes.HTTPRequest, body: RequestBody = .none) throws {
        self.init(
            method: request.method.rawValue, url: try request.url(), headers: HTTPSession.Headers(request.headerFields), body: body)
    }
}

/// `session.request(head)` sends it, and `session.upload(data, with: head)` sends it with a body.
extension HTTPTypes.HTTPRequest: HTTPSession.URLRequestConvertible {
    public func asURLRequest() throws -> URLRequest { URLRequest(try TransportRequest(self)) }
    public var requestLabel: String? { nil }
}

extension HTTPTypes.HTTPResponse {
    /// The head of a response.
    ///
    /// - Throws: an error for a status that does not have three digits, or a field that cannot be sent.
    public init(_ response: HTTPSession.Response) throws {
        guard (0...999).contains(response.status) else {
            throw WiretapeError(.unsupported, "the status \(response.status) does not have three digits: look at what made the response")
        }
        self.init(
            status: Status(code: response.status, reasonPhrase: response.reason), headerFields: try HTTPFields(response.headers))
    }
}

extension HTTPSession.Response {
    /// - Parameter url: the URL of the request.
    public init(_ response: HTTPTypes.HTTPResponse, url: URL) {
        self.init(
            url: url, status: response.status.code, reason: response.status.reasonPhrase,
            headers: HTTPSession.Headers(response.headerFields))
    }
}
#endif
