public import Foundation

/// One request as it is to go out: after adapters, encoders, cookies and credentials.
public struct TransportRequest: Sendable {
    /// An uppercase token (RFC 9110, 9.1).
    public var method: String
    /// With a scheme and a host.
    public var url: URL
    /// In order, duplicates kept; checked for CR, LF and NUL.
    public var headers: HTTPHeaders
    public var body: RequestBody
    /// For people, in a recording: the name of a router's case.
    public var label: String?

    public init(method: String, url: URL, headers: HTTPHeaders = HTTPHeaders(), body: RequestBody = .none, label: String? = nil) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.label = label
    }
}

extension TransportRequest {
    /// - Throws: for what could not be sent as it is, or would write lines of its own.
    func check() throws {
        guard !self.method.isEmpty, self.method.utf8.allSatisfy(HTTPHeaders.isTokenCharacter) else {
            throw WiretapeError(.invalidRequest, "\"\(self.method)\" is no method: take one of HTTPMethod, as .get")
        }
        guard let scheme = self.url.scheme?.lowercased(), scheme == "http" || scheme == "https" else {
            throw WiretapeError(
                .invalidRequest, "\"\(self.url.absoluteString)\" is no address of the web: begin it with \"https://\" or \"http://\"")
        }
        guard self.url.host?.isEmpty == false else {
            throw WiretapeError(.invalidRequest, "\"\(self.url.absoluteString)\" names no host: write one behind \"\(scheme)://\"")
        }
        try self.headers.validated()
    }
}
