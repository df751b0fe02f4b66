public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// One hop of a request: where it goes, how, and what it may take along.
public struct Redirect: Sendable, Hashable {
    public let source: URL
    public let target: URL
    public let method: String
    /// False where the method was changed to one that has none: the body goes, and the fields that describe it.
    public let keepsBody: Bool

    public init(from source: URL, to target: URL, method: String, keepsBody: Bool) {
        self.source = source
        self.target = target
        self.method = method
        self.keepsBody = keepsBody
    }

    /// Whether scheme, host or port change (RFC 6454, 4).
    public var crossesOrigin: Bool { Self.origin(of: self.source) != Self.origin(of: self.target) }

    /// Whether a field of the request before may be sent on (RFC 9110, 15.4).
    public func keeps(header name: String) -> Bool {
        let name = name.lowercased()
        if !self.keepsBody, Self.contentFields.contains(name) { return false }
        if self.crossesOrigin, Self.originFields.contains(name) { return false }
        // Whoever reads the line would learn a secured address (RFC 9110, 10.1.3).
        return !(name == "referer" && self.source.scheme?.lowercased() == "https" && self.target.scheme?.lowercased() == "http")
    }

    /// The next request; a body that is not in the old `URLRequest` (a file) is the caller's to take along where `keepsBody` says so.
    ///
    /// - Parameter request: as it was before cookies of a jar were added: those of the new URL are not those of the old.
    public func request(following request: URLRequest) -> URLRequest {
        var next = request
        next.url = self.target
        next.httpMethod = self.method
        if !self.keepsBody {
            next.httpBodyStream = nil
            next.httpBody = nil
        }
        for name in (request.allHTTPHeaderFields ?? [:]).keys where !self.keeps(header: name) {
            next.setValue(nil, forHTTPHeaderField: name)
        }
        return next
    }

    /// The next request, duplicates of fields and their order kept.
    public func request(following request: TransportRequest) -> TransportRequest {
        var next = request
        next.url = self.target
        next.method = self.method
        if !self.keepsBody { next.body = .none }
        next.headers = HTTPHeaders(request.headers.filter { self.keeps(header: $0.name) })
        return next
    }

    /// RFC 9110, 15.4: what describes a body that is gone.
    private static let contentFields: Set<String> = [
        "content-encoding", "content-language", "content-location", "content-type", "content-length", "content-md5", "content-digest",
        "content-disposition", "content-range", "repr-digest", "digest", "last-modified", "transfer-encoding", "trailer", "expect",
    ]

    /// What is a secret between the user and one origin, or names it.
    private static let originFields: Set<String> = ["authorization", "cookie", "cookie2", "proxy-authorization", "host"]

    private static func origin(of url: URL) -> [String] {
        let scheme = url.scheme?.lowercased() ?? ""
        let port = url.port ?? (scheme == "https" ? 443 : 80)
        return [scheme, url.host()?.lowercased() ?? "", String(port)]
    }
}
