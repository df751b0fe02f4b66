public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

/// The head of a response, exactly as it came: `HTTPURLResponse` joins duplicates and rewrites names, and is made from this one.
public struct HTTPResponse: Sendable, Hashable {
    /// What was asked for: the URL of the last hop.
    public var url: URL
    /// 200 to 599.
    public var status: Int
    /// Empty where there was none.
    public var reason: String
    /// In order, duplicates and spelling kept, where the transport sees them so: URLSession joins them.
    public var headers: HTTPHeaders
    public var source: ExchangeSource

    public init(url: URL, status: Int, reason: String = "", headers: HTTPHeaders = HTTPHeaders(), source: ExchangeSource = .live) {
        self.url = url
        self.status = status
        self.reason = reason
        self.headers = headers
        self.source = source
    }
}

extension HTTPResponse {
    /// A view that joins duplicates and, on Linux, rewrites names of fields; nil where Foundation cannot make one.
    public var httpURLResponse: HTTPURLResponse? {
        HTTPURLResponse(url: self.url, statusCode: self.status, httpVersion: "HTTP/1.1", headerFields: self.headers.dictionary)
    }

    /// Octets of the body to come, where they are known: those of a coded body are not.
    var bodySize: Int64? {
        guard !self.headers.contains(name: "Content-Encoding") else { return nil }
        return self.headers.value(for: "Content-Length").flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
}
