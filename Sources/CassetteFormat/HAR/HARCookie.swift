internal import CassetteModel
internal import TapeBytes

/// A cookie as listed in HAR.
struct HARCookie: Hashable {
    struct Attribute: Hashable {
        var name: String
        var value: String
    }

    var name: String
    var value: String
    /// `path`, `domain` and `expires`, if the cookie has them.
    var attributes: [Attribute] = []
    /// `httpOnly` and `secure`, if the cookie has them.
    var flags: [String] = []

    /// The cookies of a `Cookie` field (RFC 6265, 4.2.1).
    static func sent(_ value: String) -> [HARCookie] {
        value.utf8.split(separator: UInt8(ascii: ";")).compactMap { part in
            let (name, value) = self.pair(part)
            return name.isEmpty && value == nil ? nil : HARCookie(name: name, value: value ?? "")
        }
    }

    /// The cookie of a `Set-Cookie` field (RFC 6265, 5.2); nil if it has none.
    static func set(_ value: String) -> HARCookie? {
        var parts = value.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)[...]
        guard let first = parts.popFirst() else { return nil }
        let (name, content) = self.pair(first)
        guard let content else { return nil }
        var cookie = HARCookie(name: name, value: content)
        for part in parts {
            let (name, value) = self.pair(part)
            switch (name.lowercased(), value) {
            case ("path", let value?): cookie.attributes.append(Attribute(name: "path", value: value))
            case ("domain", let value?): cookie.attributes.append(Attribute(name: "domain", value: value))
            case ("expires", let value?):
                guard let time = Timestamp(httpDate: value) else { continue }
                cookie.attributes.append(Attribute(name: "expires", value: time.formatted))
            case ("httponly", _): cookie.flags.append("httpOnly")
            case ("secure", _): cookie.flags.append("secure")
            default: continue
            }
        }
        // A member must not occur twice; the last attribute counts.
        var seen: Set<String> = []
        cookie.attributes = cookie.attributes.reversed().filter { seen.insert($0.name).inserted }.reversed()
        cookie.flags = cookie.flags.filter { seen.insert($0).inserted }
        return cookie
    }

    private static func pair(_ part: Substring.UTF8View.SubSequence) -> (name: String, value: String?) {
        guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else { return (self.trimmed(part), nil) }
        return (self.trimmed(part[..<equals]), self.trimmed(part[part.index(after: equals)...]))
    }

    private static func trimmed(_ text: Substring.UTF8View.SubSequence) -> String {
        let isSpace: (UInt8) -> Bool = { $0 == 32 || $0 == 9 }
        let start = text.drop(while: isSpace)
        let kept = start.count - start.reversed().prefix(while: isSpace).count
        return String(decoding: start.prefix(kept), as: UTF8.self)
    }
}

/// Splits `a=1&b=2` into names and values, as in a URL's query or a form.
enum FormPairs {
    struct Pair: Hashable {
        var name: String
        var value: String
    }

    /// The pairs between a URL's question mark and its fragment.
    static func query(of url: String) -> [Pair] {
        let bytes = Array(url.utf8)
        let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.count
        guard let mark = bytes[..<end].firstIndex(of: UInt8(ascii: "?")) else { return [] }
        return self.parse(bytes[(mark + 1)..<end])
    }

    static func parse(_ text: ArraySlice<UInt8>) -> [Pair] {
        text.split(separator: UInt8(ascii: "&")).map { part in
            guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else { return Pair(name: self.decode(part), value: "") }
            return Pair(name: self.decode(part[..<equals]), value: self.decode(part[(equals + 1)...]))
        }
    }

    /// Decodes `%20` and `+`. Text that would not be valid UTF-8 afterwards is left as it is.
    private static func decode(_ text: ArraySlice<UInt8>) -> String {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(text.count)
        var offset = text.startIndex
        while offset < text.endIndex {
            if text[offset] == UInt8(ascii: "%"), text.endIndex - offset > 2, let upper = Hex.value(text[offset + 1]),
                let lower = Hex.value(text[offset + 2])
            {
                decoded.append(upper << 4 | lower)
                offset += 3
            } else {
                decoded.append(text[offset] == UInt8(ascii: "+") ? 32 : text[offset])
                offset += 1
            }
        }
        return String(decoding: UTF8Validator.isValid(decoded) ? decoded : Array(text), as: UTF8.self)
    }
}

extension Timestamp {
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    /// Parses `Sat, 21 Nov 2026 04:19:28 GMT` (RFC 9110, 5.6.7), also with dashes instead of spaces, as in cookies.
    init?(httpDate text: String) {
        let words = text.lowercased().split { $0 == " " || $0 == "-" || $0 == "," }
        guard words.count == 6, words[5] == "gmt", let month = Self.months.firstIndex(where: { $0 == words[2] }) else { return nil }
        func padded(_ text: some StringProtocol, to width: Int) -> String {
            String(repeating: "0", count: max(0, width - text.utf8.count)) + text
        }
        // RFC 6265, 5.1.1: many servers write two digits.
        let century = words[3].utf8.count == 2 ? (words[3] < "70" ? "20" : "19") : ""
        let year = century + words[3]
        guard year.utf8.count == 4, words[4].utf8.count == 8 else { return nil }
        self.init("\(year)-\(padded(String(month + 1), to: 2))-\(padded(words[1], to: 2))T\(words[4])Z")
    }
}
