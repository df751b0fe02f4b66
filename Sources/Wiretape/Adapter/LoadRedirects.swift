internal import Foundation

/// Tells the redirects of one load from its answer.
///
/// Knows events, never exchanges: whether the next request goes out is for others to say.
struct LoadRedirects: Sendable {
    enum Finding: Sendable {
        /// The event is the answer's.
        case answer
        /// The event is the redirect's, which has not ended.
        case redirect
        /// All of the redirect has come.
        case ended(HTTPResponse, next: TransportRequest)
        case failed(TransportFailure)
    }

    /// What the answer that redirects had for a body, for a delegate that wants it.
    private(set) var body: [Data] = []
    private var request: TransportRequest?
    private var hops = 0
    private var redirect: (response: HTTPResponse, next: TransportRequest)?

    /// A request goes out: the first, or the next.
    mutating func sent(_ request: TransportRequest) {
        self.request = request
        (self.redirect, self.body) = (nil, [])
    }

    mutating func received(_ event: TransportEvent) -> Finding {
        guard let redirect = self.redirect else { return self.begins(event) }
        switch event {
        case .end: return .ended(redirect.response, next: redirect.next)
        case .chunk(let data): self.body.append(data)
        case .failed:
            self.redirect = nil
            return .answer
        case .sent, .interim, .head, .trailers, .metrics: break
        }
        return .redirect
    }

    private mutating func begins(_ event: TransportEvent) -> Finding {
        guard case .head(let response) = event, let request = self.request else { return .answer }
        switch RedirectRule().decide(method: request.method, url: request.url, response: response, hops: self.hops) {
        case .stay: return .answer
        case .follow(let redirect):
            self.hops += 1
            self.redirect = (response, redirect.request(following: request))
            return .redirect
        case .refuse(let error): return .failed(TransportFailure(.network(.malformed), error.message, underlying: error))
        }
    }
}
