public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Which cookies a request sends, and which cookies of an answer are stored (RFC 6265): the same on every platform.
///
/// The cookies are in Foundation's storage. Its own handling of Set-Cookie, paths and `Secure` is not used: on Linux it ignores them.
/// Public suffixes are not known: `Domain=co.uk` is accepted from any host below it.
public struct CookieRule: Sendable {
    public let storage: HTTPCookieStorage

    public init(storage: HTTPCookieStorage) { self.storage = storage }

    /// A storage in memory that is not shared. Nil if the platform has none.
    public static func privateStorage() -> HTTPCookieStorage? {
        // `HTTPCookieStorage()` cannot be called on every platform.
        URLSessionConfiguration.ephemeral.httpCookieStorage
    }

    /// The value of the Cookie field for a URL; nil if there is none.
    ///
    /// - Parameter own: the request's own Cookie field: it is kept, and takes precedence over stored cookies of the same name.
    public func header(for url: URL, own: String? = nil, at now: Date = Date()) -> String? {
        guard let cookies = self.storage.cookies, !cookies.isEmpty else { return own }
        let taken = Set((own ?? "").split(separator: ";").map { Self.name(ofPair: $0) })
        let sent = Self.cookies(cookies, for: url, at: now).filter { !taken.contains($0.name) }.map { "\($0.name)=\($0.value)" }
        let pairs = (own.map { [$0] } ?? []).filter { !$0.isEmpty } + sent
        return pairs.isEmpty ? own : pairs.joined(separator: "; ")
    }

    /// The fields with their Cookie field replaced by the one for a URL.
    public func headers(_ headers: HTTPHeaders, for url: URL, at now: Date = Date()) -> HTTPHeaders {
        let values = headers.values(for: "Cookie")
        let own = values.isEmpty ? nil : values.joined(separator: "; ")
        guard let header = self.header(for: url, own: own, at: now), header != own else { return headers }
        var result = HTTPHeaders(headers.filter { $0.name.lowercased() != "cookie" })
        result.add(name: "Cookie", value: header)
        return result
    }

    /// Stores the cookies that an answer sets, and deletes those that it expires.
    ///
    /// - Parameter mainDocument: for `onlyFromMainDocumentDomain`: the URL that the user requested; cookies of other sites are not stored.
    public func store(_ response: HTTPResponse, mainDocument: URL? = nil, at now: Date = Date()) {
        let fields = response.headers.values(for: "Set-Cookie")
        guard !fields.isEmpty, self.accepts(response.url, mainDocument: mainDocument) else { return }
        for field in fields {
            guard let set = SetCookie(field, from: response.url, at: now), let cookie = set.cookie else { continue }
            if set.isExpired(at: now) { self.storage.deleteCookie(cookie) } else { self.storage.setCookie(cookie) }
        }
    }

    private func accepts(_ url: URL, mainDocument: URL?) -> Bool {
        switch self.storage.cookieAcceptPolicy {
        case .never: return false
        case .onlyFromMainDocumentDomain:
            guard let main = mainDocument.flatMap(Self.host(of:)), let host = Self.host(of: url) else { return true }
            return Self.host(host, isWithin: main) || Self.host(main, isWithin: host)
        default: return true
        }
    }
}

extension CookieRule {
    /// The cookies for a URL in the order of sending: longer paths first (RFC 6265, 5.4), then by name, so that recordings are stable.
    static func cookies(_ cookies: [HTTPCookie], for url: URL, at now: Date) -> [HTTPCookie] {
        guard let host = Self.host(of: url) else { return [] }
        let path = url.path(percentEncoded: true)
        let isSecure = ["https", "wss"].contains(url.scheme?.lowercased())
        return
            cookies.filter { cookie in
                Self.host(host, isMeantBy: cookie.domain) && Self.path(path.isEmpty ? "/" : path, isWithin: cookie.path)
                    && (isSecure || !cookie.isSecure) && cookie.expiresDate.map { $0 > now } ?? true
                    && !self.hasControls(cookie.name) && !self.hasControls(cookie.value)
            }
            .sorted { left, right in
                left.path.utf8.count != right.path.utf8.count ? left.path.utf8.count > right.path.utf8.count : left.name < right.name
            }
    }

    /// The caller can store any text: one with a line end could inject a header field.
    private static func hasControls(_ text: String) -> Bool { text.utf8.contains { $0 < 32 && $0 != 9 || $0 == 127 } }

    /// In lower case; an IPv6 address without brackets.
    static func host(of url: URL) -> String? {
        guard var host = url.host()?.lowercased(), !host.isEmpty else { return nil }
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        return host
    }

    static func isAddress(_ host: String) -> Bool {
        host.contains(":") || host.utf8.allSatisfy { (48...57).contains($0) || $0 == UInt8(ascii: ".") }
    }

    /// RFC 6265, 5.1.3: the domain itself or a subdomain; an address matches only itself.
    static func host(_ host: String, isWithin domain: String) -> Bool {
        host == domain || host.hasSuffix("." + domain) && !self.isAddress(host)
    }

    /// RFC 6265, 5.1.4.
    static func path(_ path: String, isWithin cookie: String) -> Bool {
        guard path.hasPrefix(cookie) else { return false }
        return path.utf8.count == cookie.utf8.count || cookie.hasSuffix("/") || path.dropFirst(cookie.count).hasPrefix("/")
    }

    /// With a leading dot, subdomains match too; without, only that host.
    private static func host(_ host: String, isMeantBy domain: String) -> Bool {
        let domain = domain.lowercased()
        return domain.hasPrefix(".") ? self.host(host, isWithin: String(domain.dropFirst())) : host == domain
    }

    private static func name(ofPair pair: Substring) -> String {
        pair[..<(pair.firstIndex(of: "=") ?? pair.endIndex)].trimmingCharacters(in: .whitespaces)
    }
}
