package import CassetteModel
package import TapeBytes

/// A case-insensitive regular expression, searched for anywhere in bytes in linear time.
///
/// Bytes that are not UTF-8 match only `.`, so that the text between them can be found.
package struct FilterPattern: Sendable {
    package enum Kind {
        /// Lines: `^` and `$` match at each (mitmproxy's re.MULTILINE for header fields).
        case lines
        /// `.` matches line ends too (re.DOTALL for bodies).
        case body
        case plain
    }

    package let source: String
    /// The pattern in lower-case ASCII, if it has no special character: most have none, and bodies can be large.
    private let literal: [UInt8]?
    private let pattern: Pattern
    private let isOfLines: Bool

    private static let special = Set(#"\^$.|?*+()[]{}"#.utf8)

    /// Throws if it is no pattern, with what to write instead.
    package init(_ source: String, _ kind: Kind = .plain) throws(PatternError) {
        let (flags, rest) = Self.flags(source)
        do {
            self.pattern = try Pattern("(?i\(kind == .body || flags.contains("s") ? "s" : ""))\(Self.inBothCases(rest))")
        } catch {
            // The error of what was written.
            _ = try Pattern(String(rest))
            throw error
        }
        self.source = source
        self.isOfLines = kind == .lines || flags.contains("m")
        let hasCase = source.unicodeScalars.contains { !$0.isASCII && ($0.properties.isLowercase || $0.properties.isUppercase) }
        let isLiteral = !source.isEmpty && !hasCase && !source.utf8.contains(where: Self.special.contains)
        self.literal = isLiteral ? source.utf8.map(Self.lower) : nil
    }

    /// The flags at the beginning, as Python's and other languages have them.
    private static func flags(_ source: String) -> (flags: Substring, rest: Substring) {
        guard source.hasPrefix("(?"), let end = source.firstIndex(of: ")") else { return ("", source[...]) }
        let flags = source[source.index(source.startIndex, offsetBy: 2)..<end]
        guard !flags.isEmpty, flags.allSatisfy({ "ism".contains($0) }) else { return ("", source[...]) }
        return (flags, source[source.index(after: end)...])
    }

    /// Letters beyond ASCII in both cases, since patterns ignore the case of ASCII alone.
    private static func inBothCases(_ pattern: Substring) -> String {
        guard pattern.unicodeScalars.contains(where: { !$0.isASCII }) else { return String(pattern) }
        var output = ""
        var (isEscaped, isInClass) = (false, false)
        for scalar in pattern.unicodeScalars {
            let lower = scalar.properties.lowercaseMapping, upper = scalar.properties.uppercaseMapping
            if !scalar.isASCII, !isEscaped, lower != upper, lower.unicodeScalars.count == 1, upper.unicodeScalars.count == 1 {
                output += isInClass ? lower + upper : "[\(lower)\(upper)]"
            } else {
                output.unicodeScalars.append(scalar)
            }
            if !isEscaped {
                if scalar == "[" { isInClass = true }
                if scalar == "]" { isInClass = false }
            }
            isEscaped = scalar == "\\" && !isEscaped
        }
        return output
    }

    package func matches(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { self.matches(UnsafeRawBufferPointer($0)) }
    }

    package func matches(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes(self.matches) }

    package func matches(_ fields: HeaderFields) -> Bool { fields.withBytes(self.matches) }

    /// Whether the value of a field matches.
    package func matches(_ fields: HeaderFields, valueAt index: Int) -> Bool {
        let range = fields.valueRange(at: index)
        return fields.withBytes { self.matches(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    package func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if let literal = self.literal { return Self.find(literal, in: bytes) }
        if self.pattern.firstRange(in: bytes) != nil { return true }
        guard self.isOfLines else { return false }
        return bytes.split(separator: 0x0a).contains { line in
            var line = UnsafeRawBufferPointer(rebasing: line)
            if line.last == 0x0d { line = UnsafeRawBufferPointer(rebasing: line.dropLast()) }
            return self.pattern.firstRange(in: line) != nil
        }
    }

    /// The leftmost match, and the longest of those; does not look at single lines.
    package func firstRange(in text: String) -> Range<Int>? {
        var text = text
        return text.withUTF8 { self.pattern.firstRange(in: UnsafeRawBufferPointer($0)) }
    }

    private static func find(_ literal: [UInt8], in bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= literal.count else { return false }
        let first = literal[0]
        for start in 0...bytes.count - literal.count where self.lower(bytes[start]) == first {
            var index = 1
            while index < literal.count, self.lower(bytes[start + index]) == literal[index] { index += 1 }
            if index == literal.count { return true }
        }
        return false
    }

    private static func lower(_ byte: UInt8) -> UInt8 { byte >= 65 && byte <= 90 ? byte | 32 : byte }
}
