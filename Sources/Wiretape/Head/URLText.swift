internal import Foundation
internal import TapeBytes
internal import TapeTrust

/// A URL as written by the caller, made valid by RFC 3986 with as few changes as possible.
///
/// `URL(string:)` alone silently turns `%7` into `%257`. Dot segments, case and default ports stay as written.
struct URLText {
    let url: URL

    init(_ text: String) throws(URLConversionError) {
        let shown = "\"\(PlainText.escape(text.utf8, limit: 200))\""
        guard text.utf8.allSatisfy({ $0 >= 32 && $0 != 127 }) else {
            throw URLConversionError(.invalidCharacter, "\(shown) has a line end or another control character: remove it")
        }
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), Self.isScheme(text[..<colon]) else {
            throw URLConversionError(.noScheme, "\(shown) has no scheme: write \"https://host/path\"")
        }
        var rest = text[text.utf8.index(after: colon)...]
        var result = text[...colon]
        if rest.hasPrefix("//") {
            rest = rest.dropFirst(2)
            let end = rest.utf8.firstIndex { "/?#".utf8.contains($0) } ?? rest.endIndex
            result += "//" + (try Self.authority(rest[..<end], of: shown))
            rest = rest[end...]
        } else if ["http", "https"].contains(text[..<colon].lowercased()) {
            throw URLConversionError(.noHost, "\(shown) has no host: write \"https://host/path\"")
        }
        let fragment = rest.utf8.firstIndex(of: UInt8(ascii: "#")) ?? rest.endIndex
        result += try Self.encoded(rest[..<fragment], of: shown)
        if fragment < rest.endIndex {
            result += "#" + (try Self.encoded(rest[rest.utf8.index(after: fragment)...], of: shown))
        }
        // Nothing is left to encode, so that Foundation on every platform takes it unchanged.
        guard let url = URL(string: String(result)), url.absoluteString == result else {
            throw URLConversionError(.notAURL, "\(shown) is not a URL: write \"https://host/path\"")
        }
        self.url = url
    }

    /// RFC 3986, 3.1
    private static func isScheme(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, (65...90).contains(first) || (97...122).contains(first) else { return false }
        return text.utf8.allSatisfy {
            (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || "+-.".utf8.contains($0)
        }
    }

    /// RFC 3986, 3.2: `user@host:port`.
    private static func authority(_ text: Substring, of shown: String) throws(URLConversionError) -> String {
        let at = text.utf8.lastIndex(of: UInt8(ascii: "@"))
        let user = try at.map { at throws(URLConversionError) in try self.encoded(text[..<at], of: shown) + "@" } ?? ""
        let place = at.map { text[text.utf8.index(after: $0)...] } ?? text
        let isLiteral = place.hasPrefix("[")
        let hostEnd = isLiteral ? place.utf8.firstIndex(of: UInt8(ascii: "]")).map(place.utf8.index(after:)) : place.firstIndex(of: ":")
        let host = place[..<(hostEnd ?? place.endIndex)]
        guard !host.isEmpty || text.isEmpty && shown.lowercased().hasPrefix("\"file:") else {
            throw URLConversionError(.noHost, "\(shown) has no host: write \"https://host/path\"")
        }
        let port = place[host.endIndex...]
        guard port.isEmpty || port.first == ":" && port.dropFirst().utf8.allSatisfy({ (48...57).contains($0) }),
            port.count <= 1 || Int(port.dropFirst()).map({ $0 <= 65535 }) ?? false
        else {
            throw URLConversionError(.invalidPort, "\(shown) has the port \"\(port.dropFirst())\": write a number up to 65535, or none")
        }
        return user + (try self.host(host, isLiteral: isLiteral, of: shown)) + port
    }

    private static func host(_ host: Substring, isLiteral: Bool, of shown: String) throws(URLConversionError) -> String {
        if isLiteral {
            let address = host.dropFirst().dropLast()
            guard host.last == "]", !address.isEmpty, address.utf8.allSatisfy({ self.isUnreserved($0) || ":%".utf8.contains($0) }) else {
                throw URLConversionError(.invalidHost, "\(shown) has no address between its brackets: write one as \"[::1]\"")
            }
            return String(host)
        }
        guard host.utf8.allSatisfy({ $0 < 0x80 }) else {
            do {
                return try DomainName.ascii(host)
            } catch {
                throw URLConversionError(.invalidHost, "\(shown) has a host that is no name: \(error.reason)")
            }
        }
        guard host.utf8.allSatisfy({ self.isUnreserved($0) || "!$&'()*+,;=%".utf8.contains($0) }) else {
            throw URLConversionError(
                .invalidHost,
                "\(shown) has the host \"\(PlainText.escape(host.utf8, limit: 200))\", which is no name: take letters, digits, \"-\" and \".\""
            )
        }
        return try self.encoded(host, of: shown)
    }

    private static func isUnreserved(_ octet: UInt8) -> Bool { PercentEncoder.unreserved.allows(octet) }

    private static func encoded(_ text: Substring, of shown: String) throws(URLConversionError) -> String {
        guard let encoded = PercentEncoder.target.encodeOnce(text) else {
            throw URLConversionError(
                .invalidPercent, "\(shown) has a \"%\" that no two hex digits follow: write \"%25\" for a percent sign")
        }
        return encoded
    }
}

extension URL {
    /// The URL with more appended to its query. The rest stays as written.
    ///
    /// - Parameter query: percent-encoded; nothing changes if it is empty.
    /// - Throws: `URLConversionError`.
    func appending(query: String) throws(URLConversionError) -> URL {
        guard !query.isEmpty else { return self }
        let text = self.absoluteString
        let fragment = text.utf8.firstIndex(of: UInt8(ascii: "#")) ?? text.endIndex
        let target = text[..<fragment]
        let separator = !target.utf8.contains(UInt8(ascii: "?")) ? "?" : target.hasSuffix("?") || target.hasSuffix("&") ? "" : "&"
        return try URLText(target + separator + query + text[fragment...]).url
    }
}
