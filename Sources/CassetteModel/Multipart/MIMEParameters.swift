/// A field value of the form `value; name=value; name="value"`, as Content-Type and Content-Disposition have it (RFC 2045, 5.1).
///
/// Lenient: white space is allowed everywhere, and a quote ends a quoted string only in front of a semicolon or the end where there is one
/// such, since some clients write `filename="a"b.png"`. Does not decode values beyond their quoting.
public struct MIMEParameters: Sendable, Hashable {
    public struct Parameter: Sendable, Hashable {
        /// In lower case.
        public var name: String
        /// As written between the quotes, or up to the semicolon.
        public var raw: [UInt8]
        public var isQuoted: Bool

        /// The value with every backslash taken as an escape of what follows (RFC 9110, 5.6.4).
        public var value: [UInt8] {
            guard self.isQuoted, self.raw.contains(UInt8(ascii: "\\")) else { return self.raw }
            var value: [UInt8] = []
            var isEscaped = false
            for octet in self.raw {
                if octet == UInt8(ascii: "\\"), !isEscaped {
                    isEscaped = true
                } else {
                    value.append(octet)
                    isEscaped = false
                }
            }
            return value
        }
    }

    /// Parameters of one value. Content-Type has one or two, Content-Disposition three.
    public static let limit = 32

    /// What stands in front of the first semicolon, in lower case and without white space around it.
    public var value: String
    public var parameters: [Parameter] = []
    /// What stands behind a comma, where a client adds the field twice and its library joins the two (RFC 9110, 5.3).
    public var rest: [UInt8]?

    public init(_ field: some Collection<UInt8>) {
        let octets = Array(field)
        var index = Self.endOfValue(octets, from: 0)
        self.value = Self.lowercase(octets[..<index])
        while index < octets.count, octets[index] == UInt8(ascii: ";"), self.parameters.count < Self.limit {
            index += 1
            let end = octets[index...].firstIndex { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: "=") } ?? octets.count
            let name = Self.lowercase(octets[index..<end])
            index = end
            guard end < octets.count, octets[end] == UInt8(ascii: "=") else { continue }
            let start = octets[(end + 1)...].firstIndex { !Self.isSpace($0) } ?? octets.count
            let (raw, isQuoted): (ArraySlice<UInt8>, Bool)
            if start < octets.count, octets[start] == UInt8(ascii: "\"") {
                let close = Self.closingQuote(octets, from: start + 1)
                (raw, isQuoted) = (octets[(start + 1)..<close], true)
                index = Self.endOfValue(octets, from: close)
            } else {
                index = Self.endOfValue(octets, from: start)
                (raw, isQuoted) = (Self.trimmed(octets[start..<index]), false)
            }
            if !name.isEmpty { self.parameters.append(Parameter(name: name, raw: Array(raw), isQuoted: isQuoted)) }
        }
        if index < octets.count, octets[index] == UInt8(ascii: ",") { self.rest = Array(octets[(index + 1)...]) }
    }

    /// The first parameter of a name in lower case.
    public subscript(name: String) -> Parameter? {
        self.parameters.first { $0.name == name }
    }

    private static func closingQuote(_ octets: [UInt8], from start: Int) -> Int {
        var first: Int?
        var index = start
        while index < octets.count {
            if octets[index] == UInt8(ascii: "\\") {
                // A path that ends in a backslash: `filename="C:\"`.
                if index + 1 < octets.count, octets[index + 1] == UInt8(ascii: "\""), self.endsValue(octets, behind: index + 1),
                    !octets[(index + 2)...].contains(UInt8(ascii: "\""))
                {
                    return index + 1
                }
                index += 2
                continue
            }
            if octets[index] == UInt8(ascii: "\"") {
                if self.endsValue(octets, behind: index) { return index }
                first = first ?? index
            }
            index += 1
        }
        return first ?? octets.count
    }

    private static func endsValue(_ octets: [UInt8], behind quote: Int) -> Bool {
        guard let next = octets[(quote + 1)...].first(where: { !self.isSpace($0) }) else { return true }
        return next == UInt8(ascii: ";") || next == UInt8(ascii: ",")
    }

    /// The next semicolon, or comma with a media type behind it. Other commas belong to the value: a boundary may have them (RFC 2046, 5.1.1),
    /// and clients forget the quotes it then needs.
    private static func endOfValue(_ octets: [UInt8], from start: Int) -> Int {
        var index = start
        while index < octets.count, octets[index] != UInt8(ascii: ";") {
            if octets[index] == UInt8(ascii: ",") {
                let next = octets[(index + 1)...].drop { self.isSpace($0) }.prefix(Self.longestFamily)
                let text = self.lowercase(next)
                if Self.families.contains(where: { text.hasPrefix($0) }) { break }
            }
            index += 1
        }
        return index
    }

    private static let families = ["multipart/", "application/", "text/"]
    private static let longestFamily = 12

    private static func isSpace(_ octet: UInt8) -> Bool { octet == 32 || octet == 9 || octet == 10 || octet == 13 }

    private static func trimmed(_ octets: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let start = octets.drop(while: self.isSpace)
        guard let last = start.lastIndex(where: { !self.isSpace($0) }) else { return start }
        return start[...last]
    }

    private static func lowercase(_ octets: ArraySlice<UInt8>) -> String {
        String(decoding: self.trimmed(octets).map { $0 >= 65 && $0 <= 90 ? $0 | 32 : $0 }, as: UTF8.self)
    }
}
