internal import Foundation

extension Request {
    /// The request with the session's cookies for its URL.
    func withCookies(_ request: TransportRequest) -> TransportRequest {
        guard let storage = self.core.configuration.cookieStorage else { return request }
        let own = request.headers.value(for: "Cookie")
        guard let value = CookieRule(storage: storage).header(for: request.url, own: own), value != own else { return request }
        var request = request
        request.headers.update(name: "Cookie", value: value)
        return request
    }

    func storeCookies(_ response: HTTPResponse) {
        guard let storage = self.core.configuration.cookieStorage, response.headers.contains(name: "Set-Cookie") else { return }
        CookieRule(storage: storage).store(response)
    }
}
