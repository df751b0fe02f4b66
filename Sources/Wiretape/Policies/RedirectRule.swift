public import Foundation

/// Where an answer sends a request on to (RFC 9110, 15.4; the Fetch standard where the RFC leaves a choice).
///
/// Knows one hop: sends nothing, and asks no `RedirectHandler`.
public struct RedirectRule: Sendable, Hashable {
    public enum Decision: Sendable, Hashable {
        /// The answer is the answer: no redirect, or one without a Location.
        case stay
        case follow(Redirect)
        case refuse(RedirectError)
    }

    /// So many redirects are followed for one request, as browsers do (Fetch, 4.4); URLSession follows about as many.
    public static let standardLimit = 20

    public var limit: Int

    public init(limit: Int = Self.standardLimit) { self.limit = limit }

    /// - Parameters:
    ///   - method: of the request that was answered.
    ///   - url: of that request.
    ///   - hops: how many redirects this request has followed before.
    public func decide(method: String, url: URL, response: HTTPResponse, hops: Int) -> Decision {
        guard [301, 302, 303, 307, 308].contains(response.status) else { return .stay }
        let locations = response.headers.values(for: "Location")
        guard let location = locations.first else { return .stay }
        guard locations.allSatisfy({ $0 == location }) else {
            return .refuse(
                RedirectError(
                    .badLocation,
                    "the \(response.status) of \"\(LogURL.text(url))\" names \(locations.count) places, \"\(RedirectTarget.shown(location))\" first: look at its Location fields, or take the redirect itself for the answer with Redirector.doNotFollow"
                ))
        }
        guard hops < self.limit else {
            return .refuse(
                RedirectError(
                    .tooManyRedirects,
                    "\"\(LogURL.text(url))\" redirects once more after \(hops) redirects: see whether the server sends the request in a circle"
                ))
        }
        switch RedirectTarget.resolve(location, against: url) {
        case .success(let target):
            let (method, keepsBody) = Self.method(behind: response.status, for: method)
            return .follow(Redirect(from: url, to: target, method: method, keepsBody: keepsBody))
        case .failure(let error):
            return .refuse(
                RedirectError(
                    error.code,
                    "the \(response.status) of \"\(LogURL.text(url))\" \(error.message), or take the redirect itself for the answer with Redirector.doNotFollow"
                ))
        }
    }

    /// 303 asks for something else to look at; 301 and 302 turn a POST into that by long custom; 307 and 308 change nothing.
    private static func method(behind status: Int, for method: String) -> (method: String, keepsBody: Bool) {
        switch (status, method) {
        case (303, "HEAD"), (303, "GET"): (method, false)
        case (303, _), (301, "POST"), (302, "POST"): ("GET", false)
        default: (method, true)
        }
    }
}
