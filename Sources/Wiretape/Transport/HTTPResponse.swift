public import Foundation

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
