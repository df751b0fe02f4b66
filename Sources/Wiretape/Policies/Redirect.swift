public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension HTTPSession {
    /// Decides on each redirect.
    public protocol RedirectHandler: Sendable {
        /// - Parameter proposed: the request that a browser would send (RFC 9110, 15.4): with the body if the method stays the same,
        ///   without credentials if the origin changes.
        /// - Returns: the request to send; nil makes the redirect itself the response.
        func redirect(_ response: Response, to proposed: URLRequest, for context: RequestContext) async -> URLRequest?
    }

    /// The usual decisions about redirects.
    public struct Redirector: RedirectHandler {
        private enum Behaviour: Sendable {
            case follow
            case doNotFollow
            case modify(@Sendable (URLRequest, Response, RequestContext) async -> URLRequest?)
        }

        private let behaviour: Behaviour

        /// Sends the proposed request.
        public static let follow = Redirector(behaviour: .follow)

        /// The redirect itself is the response, with its body.
        public static let doNotFollow = Redirector(behaviour: .doNotFollow)

        /// Sends the request that the closure returns; nil makes the redirect itself the response.
        public static func modify(
            _ change: @escaping @Sendable (_ proposed: URLRequest, _ response: Response, _ context: RequestContext) async -> URLRequest?
        ) -> Redirector {
            Redirector(behaviour: .modify(change))
        }

        public func redirect(_ response: Response, to proposed: URLRequest, for context: RequestContext) async -> URLRequest? {
            switch self.behaviour {
            case .follow: proposed
            case .doNotFollow: nil
            case .modify(let change): await change(proposed, response, context)
            }
        }
    }
}

extension HTTPSession.RedirectHandler where Self == HTTPSession.Redirector {
    public static var follow: HTTPSession.Redirector { HTTPSession.Redirector.follow }
    public static var doNotFollow: HTTPSession.Redirector { HTTPSession.Redirector.doNotFollow }

    public static func modify(
        _ change:
            @escaping @Sendable (_ proposed: URLRequest, _ response: HTTPSession.Response, _ context: HTTPSession.RequestContext) async ->
            URLRequest?
    ) -> HTTPSession.Redirector {
        HTTPSession.Redirector.modify(change)
    }
}

extension HTTPSession {
    /// One redirect of a request: its target, its method, and what it may carry.
    public struct Redirect: Sendable, Hashable {
        public let source: URL
        public let target: URL
        public let method: String
        /// False if the method changed to one without a body: the body and the fields that describe it are dropped.
        public let keepsBody: Bool

        public init(from source: URL, to target: URL, method: String, keepsBody: Bool) {
            self.source = source
            self.target = target
            self.method = method
            self.keepsBody = keepsBody
        }

        /// Whether scheme, host or port differ (RFC 6454, 4).
        public var crossesOrigin: Bool { Self.origin(of: self.source) != Self.origin(of: self.target) }

        /// Whether a field of the previous request may be sent again (RFC 9110, 15.4).
        public func keeps(header name: String) -> Bool {
            let name = name.lowercased()
            if !self.keepsBody, Self.contentFields.contains(name) { return false }
            if self.crossesOrigin, Self.originFields.contains(name) { return false }
            // Sending it would disclose the URL of a secured page in plain text (RFC 9110, 10.1.3).
            return !(name == "referer" && self.source.scheme?.lowercased() == "https" && self.target.scheme?.lowercased() == "http")
        }

        /// The next request. If `keepsBody`, the caller must carry over a body that is not in the `URLRequest` (a file).
        ///
        /// - Parameter request: the previous request without stored cookies, because the new URL has its own.
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

        /// The next request. Keeps duplicate fields and their order.
        public func request(following request: TransportRequest) -> TransportRequest {
            var next = request
            next.url = self.target
            next.method = self.method
            if !self.keepsBody { next.body = .none }
            next.headers = Headers(request.headers.filter { self.keeps(header: $0.name) })
            return next
        }

        /// RFC 9110, 15.4: fields that describe the dropped body.
        private static let contentFields: Set<String> = [
            "content-encoding", "content-language", "content-location", "content-type", "content-length", "content-md5", "content-digest",
            "content-disposition", "content-range", "repr-digest", "digest", "last-modified", "transfer-encoding", "trailer", "expect",
        ]

        /// Secrets between the user and one origin, and the name of the origin.
        private static let originFields: Set<String> = ["authorization", "cookie", "cookie2", "proxy-authorization", "host"]

        private static func origin(of url: URL) -> [String] {
            let scheme = url.scheme?.lowercased() ?? ""
            let port = url.port ?? (scheme == "https" ? 443 : 80)
            return [scheme, url.host()?.lowercased() ?? "", String(port)]
        }
    }
}
