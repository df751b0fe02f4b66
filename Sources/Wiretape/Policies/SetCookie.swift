internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

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
    ///   - url: of the answered request.
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

    private static func isDelimiter(_ octet: UInt8) -> Bool {
        switch octet {
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
