public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Which cookies a request sends, and which cookies of a response are stored (RFC 6265): the same on every platform.
///
/// The cookies are in Foundation's storage. Its own handling of Set-Cookie, paths and `Secure` is not used: on Linux it ignores them.
/// Public suffixes are unknown: `Domain=co.uk` is accepted from any host below it.
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
    public func headers(_ headers: HTTPSession.Headers, for url: URL, at now: Date = Date()) -> HTTPSession.Headers {
        let values = headers.values(for: "Cookie")
        let own = values.isEmpty ? nil : values.joined(separator: "; ")
        guard let header = self.header(for: url, own: own, at: now), header != own else { return headers }
        var result = HTTPSession.Headers(headers.filter { $0.name.lowercased() != "cookie" })
        result.add(name: "Cookie", value: header)
        return result
    }

    /// Stores the cookies that a response sets, and deletes those that it expires.
    ///
    /// - Parameter mainDocument: for `onlyFromMainDocumentDomain`: the URL that the user requested; cookies of other sites are not stored.
    public func store(_ response: HTTPSession.Response, mainDocument: URL? = nil, at now: Date = Date()) {
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

    /// The caller can store any text: a line break in it could inject a header field.
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

/// One Set-Cookie field, read as browsers read it (RFC 6265, 5.2 and 5.3).
///
/// Foundation's own parser differs between platforms: on Linux it ignores Max-Age, sets no default path, accepts cookies for foreign
/// hosts and splits at commas.
struct SetCookie: Sendable, Hashable {
    var name: String
    var value: String
    /// Lower case, without a leading dot; nil if the cookie is only for the host that set it.
    var domain: String?
    /// Begins with a slash.
    var path: String
    /// Nil for a session cookie.
    var expires: Date?
    var isSecure = false
    var isHTTPOnly = false
    var sameSite: String?

    /// Of name and value together, in bytes (RFC 6265bis, 5.6).
    static let limit = 4096

    /// Nil if the field sets no cookie: it has no name, is too long, or is for a foreign host.
    ///
    /// - Parameters:
    ///   - url: the URL of the answered request.
    ///   - now: when the field was received.
    init?(_ field: String, from url: URL, at now: Date) {
        guard let host = CookieRule.host(of: url) else { return nil }
        var parts = field.split(separator: ";", omittingEmptySubsequences: false)[...]
        guard let pair = parts.popFirst(), let equals = pair.firstIndex(of: "=") else { return nil }
        self.name = Self.trimmed(pair[..<equals])
        self.value = Self.trimmed(pair[pair.index(after: equals)...])
        guard !self.name.isEmpty, self.name.utf8.count + self.value.utf8.count <= Self.limit else { return nil }
        // A control character could break the Cookie field that is sent later (RFC 6265bis, 5.6).
        guard !field.unicodeScalars.contains(where: { $0.value < 32 && $0 != "\t" || $0.value == 127 }) else { return nil }
        self.path = Self.defaultPath(of: url)

        var maxAge: Date?
        for part in parts {
            let name = Self.trimmed(part[..<(part.firstIndex(of: "=") ?? part.endIndex)]).lowercased()
            let value = part.firstIndex(of: "=").map { Self.trimmed(part[part.index(after: $0)...]) } ?? ""
            switch name {
            case "expires": self.expires = CookieDate.date(value) ?? self.expires
            case "max-age": maxAge = Self.expiry(maxAge: value, at: now) ?? maxAge
            case "domain":
                self.domain = value.isEmpty ? self.domain : (value.hasPrefix(".") ? String(value.dropFirst()) : value).lowercased()
            case "path": self.path = value.hasPrefix("/") ? value : Self.defaultPath(of: url)
            case "secure": self.isSecure = true
            case "httponly": self.isHTTPOnly = true
            case "samesite": self.sameSite = value
            default: continue
            }
        }
        self.expires = maxAge ?? self.expires
        if let domain = self.domain {
            guard CookieRule.host(host, isWithin: domain) else { return nil }
            // A top-level domain, or an address: for that host alone.
            if !domain.contains(".") || CookieRule.isAddress(host) {
                guard domain == host else { return nil }
                self.domain = nil
            }
        }
        self.host = host
    }

    private var host = ""

    func isExpired(at now: Date) -> Bool { self.expires.map { $0 <= now } ?? false }

    /// As Foundation stores it: with a leading dot, subdomains get it too.
    var cookie: HTTPCookie? {
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: self.name, .value: self.value, .domain: self.domain.map { "." + $0 } ?? self.host, .path: self.path,
        ]
        if let expires { properties[.expires] = expires } else { properties[.discard] = "TRUE" }
        if self.isSecure { properties[.secure] = "TRUE" }
        if self.isHTTPOnly { properties[HTTPCookiePropertyKey(rawValue: "HttpOnly")] = "TRUE" }
        if let sameSite { properties[HTTPCookiePropertyKey(rawValue: "SameSite")] = sameSite }
        return HTTPCookie(properties: properties)
    }

    /// RFC 6265, 5.2.2: seconds from now; zero and negative numbers have expired.
    private static func expiry(maxAge: String, at now: Date) -> Date? {
        let digits = maxAge.hasPrefix("-") ? maxAge.dropFirst() : maxAge[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        guard !maxAge.hasPrefix("-") else { return .distantPast }
        // RFC 6265bis, 5.5: at most 400 days.
        let seconds = min(Int(digits) ?? Int.max, 400 * 86_400)
        return seconds == 0 ? .distantPast : now.addingTimeInterval(Double(seconds))
    }

    /// RFC 6265, 5.1.4: the path up to its last slash.
    private static func defaultPath(of url: URL) -> String {
        let path = url.path(percentEncoded: true)
        guard path.hasPrefix("/"), let last = path.lastIndex(of: "/"), last != path.startIndex else { return "/" }
        return String(path[..<last])
    }

    private static func trimmed(_ text: some StringProtocol) -> String { text.trimmingCharacters(in: .whitespaces) }
}

/// The expiry date of a cookie in any of the forms that servers send (RFC 6265, 5.1.1).
enum CookieDate {
    /// Nil if day, month, year or time are missing or invalid.
    static func date(_ text: String) -> Date? {
        var time: (hour: Int, minute: Int, second: Int)?
        var day: Int?
        var month: Int?
        var year: Int?
        for token in text.utf8.split(whereSeparator: self.isDelimiter) {
            if time == nil, let found = self.time(token) {
                time = found
            } else if day == nil, let found = self.number(token, digits: 1...2) {
                day = found
            } else if month == nil, let found = self.month(token) {
                month = found
            } else if year == nil, let found = self.number(token, digits: 2...4) {
                year = found < 70 ? found + 2000 : found < 100 ? found + 1900 : found
            }
        }
        guard let time, let day, let month, let year, (1...31).contains(day), year >= 1601, time.hour < 24, time.minute < 60,
            time.second < 60
        else { return nil }
        var parts = DateComponents(year: year, month: month, day: day, hour: time.hour, minute: time.minute, second: time.second)
        parts.calendar = self.calendar
        parts.timeZone = .gmt
        return parts.isValidDate ? parts.date : nil
    }

    private static let calendar: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()

    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// The leading digits; nil if their number is not in the range.
    private static func number(_ token: Substring.UTF8View, digits: ClosedRange<Int>) -> Int? {
        let leading = token.prefix { (48...57).contains($0) }
        return digits.contains(leading.count) ? leading.reduce(0) { $0 * 10 + Int($1 - 48) } : nil
    }

    private static func time(_ token: Substring.UTF8View) -> (hour: Int, minute: Int, second: Int)? {
        let parts = token.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count == 3, let hour = self.number(parts[0], digits: 1...2), let minute = self.number(parts[1], digits: 1...2),
            let second = self.number(parts[2], digits: 1...2), parts[0].count < 3, parts[1].count < 3
        else { return nil }
        return (hour, minute, second)
    }

    private static func month(_ token: Substring.UTF8View) -> Int? {
        let name = String(decoding: token.prefix(3), as: UTF8.self).lowercased()
        return self.months.firstIndex(of: name).map { $0 + 1 }
    }
}
