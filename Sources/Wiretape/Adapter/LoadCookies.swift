internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The cookies of a session whose answers do not pass through the system's own HTTP: it neither stores nor sends them itself.
struct LoadCookies: Sendable {
    private let rule: CookieRule

    /// Nil where the session wants no cookies.
    init?(_ configuration: URLSessionConfiguration, request: URLRequest) {
        guard configuration.httpShouldSetCookies, request.httpShouldHandleCookies, configuration.httpCookieAcceptPolicy != .never,
            let storage = configuration.httpCookieStorage
        else { return nil }
        self.rule = CookieRule(storage: storage)
    }

    /// Keeps what an answer sets.
    func store(_ response: HTTPResponse) { self.rule.store(response) }

    /// Puts the storage's cookies for its URL onto a request, in place of those it has, as URLSession does.
    func added(to request: TransportRequest) -> TransportRequest {
        guard let value = self.rule.header(for: request.url), !value.isEmpty else { return request }
        var result = request
        result.headers.update(name: "Cookie", value: value)
        return result
    }
}
