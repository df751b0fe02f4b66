internal import TapeBytes
internal import CassetteModel

/// A cookie as HAR lists it.
struct HARCookie: Hashable {
    struct Attribute: Hashable {
        var name: String
        var value: String
    }

    var name: String
    var value: String
    /// `path`, `domain`, `expires`, where the cookie has them.
    var attributes: [Attribute] = []
    /// `httpOnly` and `secure`, where the cookie has them.
    var flags: [String] = []

    /// The cookies of a `Cookie` field (RFC 6265, 4.2.1).
    static func sent(_ value: String) -> [HARCookie] {
        value.utf8.split(separator: UInt8(ascii: ";")).compactMap { part in
            let (name, value) = self.pair(part)
            return name.isEmpty && value == nil ? nil : HARCookie(name: name, value: value ?? "")
        }
    }

    /// The cookie of a `Set-Cookie` field (RFC 6265, 5.2); nil where it names none.
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
        // A member may not come twice; the last attribute counts.
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
