/// A field value of the form `value; name=value; name="value"`, as in Content-Type and Content-Disposition (RFC 2045, 5.1).
///
/// Lenient: allows white space everywhere. If any quote precedes a semicolon or the end, only such a quote ends a quoted string, since some
/// clients write `filename="a"b.png"`. Does not decode values beyond their quoting.
public struct MIMEParameters: Sendable, Hashable {
    public struct Parameter: Sendable, Hashable {
        /// In lower case.
        public var name: String
        /// As written between the quotes, or up to the semicolon.
        public var raw: [UInt8]
        public var isQuoted: Bool

        /// The value with every backslash interpreted as an escape (RFC 9110, 5.6.4).
        public var value: [UInt8] {
            guard self.isQuoted, self.raw.contains(UInt8(ascii: "\\")) else { return self.raw }
            var value: [UInt8] = []
            var isEscaped = false
            for byte in self.raw {
                if byte == UInt8(ascii: "\\"), !isEscaped {
                    isEscaped = true
                } else {
                    value.append(byte)
                    isEscaped = false
                }
            }
            return value
        }
    }

    /// The most parameters of one value. Content-Type has one or two, Content-Disposition three.
    public static let limit = 32

    /// The text before the first semicolon, in lower case and without surrounding white space.
    public var value: String
    public var parameters: [Parameter] = []
    /// The text after a comma: a client set the field twice, and its library joined the values (RFC 9110, 5.3).
    public var rest: [UInt8]?

    public init(_ field: some Collection<UInt8>) {
        let bytes = Array(field)
        var index = Self.endOfValue(bytes, from: 0)
        self.value = Self.lowercase(bytes[..<index])
        while index < bytes.count, bytes[index] == UInt8(ascii: ";"), self.parameters.count < Self.limit {
            index += 1
            let end = bytes[index...].firstIndex { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: "=") } ?? bytes.count
            let name = Self.lowercase(bytes[index..<end])
            index = end
            guard end < bytes.count, bytes[end] == UInt8(ascii: "=") else { continue }
            let start = bytes[(end + 1)...].firstIndex { !Self.isSpace($0) } ?? bytes.count
            let (raw, isQuoted): (ArraySlice<UInt8>, Bool)
            if start < bytes.count, bytes[start] == UInt8(ascii: "\"") {
                let close = Self.closingQuote(bytes, from: start + 1)
                (raw, isQuoted) = (bytes[(start + 1)..<close], true)
                index = Self.endOfValue(bytes, from: close)
            } else {
                index = Self.endOfValue(bytes, from: start)
                (raw, isQuoted) = (Self.trimmed(bytes[start..<index]), false)
            }
            if !name.isEmpty { self.parameters.append(Parameter(name: name, raw: Array(raw), isQuoted: isQuoted)) }
        }
        if index < bytes.count, bytes[index] == UInt8(ascii: ",") { self.rest = Array(bytes[(index + 1)...]) }
    }

    /// The first parameter with this name, which must be in lower case.
    public subscript(name: String) -> Parameter? {
        self.parameters.first { $0.name == name }
    }

    private static func closingQuote(_ bytes: [UInt8], from start: Int) -> Int {
        var first: Int?
        var index = start
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "\\") {
                // A path that ends with a backslash: `filename="C:\"`.
                if index + 1 < bytes.count, bytes[index + 1] == UInt8(ascii: "\""), self.endsValue(bytes, after: index + 1),
                    !bytes[(index + 2)...].contains(UInt8(ascii: "\""))
                {
                    return index + 1
                }
                index += 2
                continue
            }
            if bytes[index] == UInt8(ascii: "\"") {
                if self.endsValue(bytes, after: index) { return index }
                first = first ?? index
            }
            index += 1
        }
        return first ?? bytes.count
    }

    private static func endsValue(_ bytes: [UInt8], after quote: Int) -> Bool {
        guard let next = bytes[(quote + 1)...].first(where: { !self.isSpace($0) }) else { return true }
        return next == UInt8(ascii: ";") || next == UInt8(ascii: ",")
    }

    /// The next semicolon, or comma before a media type. Other commas belong to the value: a boundary may contain them (RFC 2046, 5.1.1),
    /// and clients forget the quotes this requires.
    private static func endOfValue(_ bytes: [UInt8], from start: Int) -> Int {
        var index = start
        while index < bytes.count, bytes[index] != UInt8(ascii: ";") {
            if bytes[index] == UInt8(ascii: ",") {
                let next = bytes[(index + 1)...].drop { self.isSpace($0) }.prefix(Self.longestFamily)
                let text = self.lowercase(next)
                if Self.families.contains(where: { text.hasPrefix($0) }) { break }
            }
            index += 1
        }
        return index
    }

    private static let families = ["multipart/", "application/", "text/"]
    private static let longestFamily = 12

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 || byte == 10 || byte == 13 }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let start = bytes.drop(while: self.isSpace)
        guard let last = start.lastIndex(where: { !self.isSpace($0) }) else { return start }
        return start[...last]
    }

    private static func lowercase(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: self.trimmed(bytes).map { $0 >= 65 && $0 <= 90 ? $0 | 32 : $0 }, as: UTF8.self)
    }
}

/// A Content-Type of the multipart family (RFC 2046, 5.1) with its boundary.
public struct MultipartType: Sendable, Hashable {
    /// `form-data`, `mixed`, `related` and so on, in lower case.
    public var subtype: String
    public var parameters: MIMEParameters

    /// The most further values that are examined: a field that was set twice has one.
    private static let listLimit = 4

    /// Nil if the value is not of the multipart family. Of several values joined by commas, the first with a boundary is used, or the first
    /// if none has one.
    public init?(_ field: some Collection<UInt8>) {
        guard Self.isNamed(in: field) else { return nil }
        var parameters = MIMEParameters(field)
        let first = parameters
        for _ in 0..<Self.listLimit {
            guard parameters["boundary"] == nil, let rest = parameters.rest else { break }
            parameters = MIMEParameters(rest)
        }
        if parameters["boundary"] == nil || !parameters.value.hasPrefix("multipart/") { parameters = first }
        guard parameters.value.hasPrefix("multipart/") else { return nil }
        self.subtype = String(parameters.value.dropFirst("multipart/".count))
        self.parameters = parameters
    }

    /// Whether the family's name occurs in the value at all. Most values need no search for parameters.
    private static func isNamed(in field: some Collection<UInt8>) -> Bool {
        var matched = 0
        for byte in field {
            let lower = byte >= 65 && byte <= 90 ? byte | 32 : byte
            if lower == self.family[matched] {
                matched += 1
                if matched == self.family.count { return true }
            } else {
                // Only the first letter of the name occurs again within it.
                matched = lower == self.family[0] ? 1 : 0
            }
        }
        return false
    }

    private static let family = Array("multipart/".utf8)

    /// The first multipart type with a boundary among the fields, or the first multipart type if none has one.
    public init?(_ fields: HeaderFields) {
        var first: MultipartType?
        for index in 0..<fields.count where fields.isNamed("content-type", at: index) {
            guard let type = MultipartType(fields.valueBytes(at: index)) else { continue }
            if type.boundary != nil {
                self = type
                return
            }
            first = first ?? type
        }
        guard let first else { return nil }
        self = first
    }

    package init?(part: PartHeaderSection) {
        self.init(part.fields)
    }

    public var isFormData: Bool { self.subtype == "form-data" }

    /// Nil if it is missing or malformed.
    public var boundary: MultipartBoundary? {
        self.parameters["boundary"].flatMap { MultipartBoundary($0.value) }
    }
}
