internal import Foundation
internal import TapeBytes
internal import TapeTrust

/// A URL as written by the caller, made valid by RFC 3986 with as few changes as possible.
///
/// `URL(string:)` alone silently turns `%7` into `%257`. Dot segments, case and default ports stay as written.
struct URLText {
    let url: URL

    init(_ text: String) throws(URLConversionError) {
        let shown = "\"\(Self.shown(text))\""
        guard text.utf8.allSatisfy({ $0 >= 32 && $0 != 127 }) else {
            throw URLConversionError(.invalidCharacter, "\(shown) contains a line break or another control character: remove it")
        }
        guard let colon = Self.schemeEnd(of: text) else {
            throw URLConversionError(
                .noScheme, "\(shown) has no scheme: write \"https://host/path\", or set the baseURL of the session's configuration")
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

    /// Without user, query and fragment, which may be secrets. If it is unclear where the user ends, all up to the last "@" is left out.
    private static func shown(_ text: String) -> String {
        let end = text.utf8.firstIndex { "?#".utf8.contains($0) } ?? text.endIndex
        var place = text[..<end]
        let slashes = place.range(of: "//")?.upperBound
        let at = place.lastIndex(of: "@")
        let start = slashes.flatMap { slashes in at.map { slashes <= $0 ? slashes : place.startIndex } } ?? place.startIndex
        if let at, place[start..<at].contains(":") || !place[start..<at].contains("/") {
            place = place[..<start] + "…" + place[at...]
        }
        return PlainText.escape(place.utf8, limit: 200) + (end < text.endIndex ? "\(text[end])…" : "")
    }

    /// Whether the text begins with a scheme, as an absolute URL does.
    static func hasScheme(_ text: String) -> Bool { self.schemeEnd(of: text) != nil }

    /// The index of the colon that ends the scheme.
    private static func schemeEnd(of text: String) -> String.Index? {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), self.isScheme(text[..<colon]) else { return nil }
        return colon
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
            throw URLConversionError(
                .invalidPort, "\(shown) has the invalid port \"\(port.dropFirst())\": write a number up to 65535, or none")
        }
        return user + (try self.host(host, isLiteral: isLiteral, of: shown)) + port
    }

    private static func host(_ host: Substring, isLiteral: Bool, of shown: String) throws(URLConversionError) -> String {
        if isLiteral {
            let address = host.dropFirst().dropLast()
            guard host.last == "]", !address.isEmpty, address.utf8.allSatisfy({ self.isUnreserved($0) || ":%".utf8.contains($0) }) else {
                throw URLConversionError(.invalidHost, "\(shown) has no address between its brackets: write one such as \"[::1]\"")
            }
            return String(host)
        }
        guard host.utf8.allSatisfy({ $0 < 0x80 }) else {
            do {
                return try DomainName.ascii(host)
            } catch {
                throw URLConversionError(.invalidHost, "\(shown) has an invalid host name: \(error.reason)", cause: error)
            }
        }
        guard host.utf8.allSatisfy({ self.isUnreserved($0) || "!$&'()*+,;=%".utf8.contains($0) }) else {
            throw URLConversionError(
                .invalidHost,
                "\(shown) has the invalid host \"\(PlainText.escape(host.utf8, limit: 200))\": use letters, digits, \"-\" and \".\""
            )
        }
        return try self.encoded(host, of: shown)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool { PercentEncoder.unreserved.allows(byte) }

    private static func encoded(_ text: Substring, of shown: String) throws(URLConversionError) -> String {
        guard let encoded = PercentEncoder.target.encodeOnce(text) else {
            throw URLConversionError(
                .invalidPercent, "\(shown) has a \"%\" that is not followed by two hex digits: write \"%25\" for a percent sign")
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

/// Percent-encodes (RFC 3986, 2.1) all bytes of a text's UTF-8 except those allowed.
struct PercentEncoder: Sendable {
    /// ALPHA, DIGIT, `-._~` (RFC 3986, 2.3).
    static let unreserved = PercentEncoder(allowing: "-._~")
    /// The characters that a path or a query may contain unescaped (RFC 3986, 3.3 and 3.4).
    static let target = PercentEncoder(allowing: "-._~!$&'()*+,;=:@/?")

    /// A bit for each ASCII character.
    private var allowed: (low: UInt64, high: UInt64) = (0, 0)

    /// Allows ASCII letters, digits and `others`.
    private init(allowing others: String) {
        for byte in Array(0..<128) as [UInt8]
        where (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || others.utf8.contains(byte) {
            self.allow(byte)
        }
    }

    /// Characters outside ASCII are always encoded, even if the set contains them.
    init(_ characters: CharacterSet) {
        for byte in 0..<128 as Range<UInt8> where characters.contains(Unicode.Scalar(byte)) { self.allow(byte) }
    }

    private mutating func allow(_ byte: UInt8) {
        if byte < 64 { self.allowed.low |= 1 << byte } else { self.allowed.high |= 1 << (byte - 64) }
    }

    func allows(_ byte: UInt8) -> Bool {
        switch byte {
        case 0..<64: self.allowed.low >> byte & 1 == 1
        case 64..<128: self.allowed.high >> (byte - 64) & 1 == 1
        default: false
        }
    }

    func encode(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 { self.append(byte, to: &bytes) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Leaves existing percent-encodings unchanged; nil if a percent sign does not begin one.
    func encodeOnce(_ text: some StringProtocol) -> String? {
        let source = Array(text.utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(source.count)
        for (index, byte) in source.enumerated() {
            guard byte == UInt8(ascii: "%") else {
                self.append(byte, to: &bytes)
                continue
            }
            guard index + 2 < source.count, Self.isHex(source[index + 1]), Self.isHex(source[index + 2]) else { return nil }
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func append(_ byte: UInt8, to bytes: inout [UInt8]) {
        guard !self.allows(byte) else { return bytes.append(byte) }
        bytes += [UInt8(ascii: "%"), Self.digit(byte >> 4), Self.digit(byte & 15)]
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 48 + value : 55 + value }

    private static func isHex(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (65...70).contains(byte) || (97...102).contains(byte)
    }
}
