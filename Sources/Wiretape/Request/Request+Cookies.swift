internal import Foundation

extension Request {
    /// The request with the session's cookies for its URL.
    func withCookies(_ request: TransportRequest) -> TransportRequest {
        guard let storage = self.core.configuration.cookieStorage else { return request }
        var request = request
        request.headers = CookieRule(storage: storage).headers(request.headers, for: request.url)
        return request
    }

    func storeCookies(_ response: HTTPResponse) {
        guard let storage = self.core.configuration.cookieStorage, response.headers.contains(name: "Set-Cookie") else { return }
        CookieRule(storage: storage).store(response)
    }
}
