internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The cookies of a session whose answers do not pass through the system's own HTTP: it neither stores nor sends them itself.
struct LoadCookies: Sendable {
    let storage: HTTPCookieStorage

    /// Nil where the session wants no cookies.
    init?(_ configuration: URLSessionConfiguration, request: URLRequest) {
        guard configuration.httpShouldSetCookies, request.httpShouldHandleCookies, configuration.httpCookieAcceptPolicy != .never,
            let storage = configuration.httpCookieStorage
        else { return nil }
        self.storage = storage
    }

    /// Keeps what an answer sets, each line by itself: a joined one is ambiguous (RFC 6265, 3).
    func store(_ response: HTTPResponse) {
        for line in response.headers.values(for: "Set-Cookie") {
            let cookies = HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": line], for: response.url)
            self.storage.setCookies(cookies, for: response.url, mainDocumentURL: nil)
        }
    }

    /// Puts the storage's cookies for its URL onto a request, in place of those it has, as URLSession does.
    func added(to request: TransportRequest) -> TransportRequest {
        guard let cookies = self.storage.cookies(for: request.url), !cookies.isEmpty,
            let value = HTTPCookie.requestHeaderFields(with: cookies)["Cookie"], !value.isEmpty
        else { return request }
        var result = request
        result.headers = HTTPHeaders(request.headers.filter { $0.name.lowercased() != "cookie" } + [HTTPHeader(name: "Cookie", value: value)])
        return result
    }
}
