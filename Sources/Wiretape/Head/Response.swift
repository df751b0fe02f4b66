public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension HTTPSession {
    /// The head of a response exactly as received, where `HTTPURLResponse` joins duplicate fields and rewrites names.
    public struct Response: Sendable, Hashable {
        /// The URL of the last request, after redirects.
        public var url: URL
        /// 200 to 599.
        public var status: Int
        /// Empty if there was none.
        public var reason: String
        /// In order, with duplicates and the original spelling, if the transport sees them. URLSession joins duplicates.
        public var headers: Headers
        public var source: ExchangeSource

        public init(url: URL, status: Int, reason: String = "", headers: Headers = Headers(), source: ExchangeSource = .live) {
            self.url = url
            self.status = status
            self.reason = reason
            self.headers = headers
            self.source = source
        }
    }
}

extension HTTPSession.Response {
    /// A view that joins duplicate fields and, on Linux, rewrites their names; nil if Foundation cannot make one.
    public var httpURLResponse: HTTPURLResponse? {
        HTTPURLResponse(url: self.url, statusCode: self.status, httpVersion: "HTTP/1.1", headerFields: self.headers.dictionary)
    }

    /// The size of the decoded body in bytes; nil if unknown, as for a body with a content coding.
    var bodySize: Int64? {
        guard !self.headers.contains(name: "Content-Encoding") else { return nil }
        return self.headers.value(for: "Content-Length").flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
}

/// Where a response comes from.
public enum ExchangeSource: Sendable, Hashable {
    /// The network.
    case live
    /// The network; recorded under this number in the cassette.
    case recorded(cassette: String, id: Int)
    /// The exchange of this number in the cassette.
    case replayed(cassette: String, id: Int)
    /// A `StubTransport`.
    case stub
}
