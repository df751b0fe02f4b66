/// A regular expression without regard to case, looked for anywhere in octets.
///
/// Octets that are not UTF-8 match nothing but `.`, so that the text between them can be found.
struct FilterPattern {
    enum Kind {
        /// Lines: `^` and `$` match at each (mitmproxy's re.MULTILINE for header fields).
        case lines
        /// `.` matches line ends too (re.DOTALL for bodies).
        case body
        case plain
    }

    let source: String
    /// The pattern's own octets, with letters of ASCII in lower case, where nothing in it is special: most are so, and bodies can be large.
    private let literal: [UInt8]?
    private let regex: Regex<AnyRegexOutput>

    private static let special = Set(#"\^$.|?*+()[]{}"#.utf8)

    /// Nil where it is no regular expression.
    init?(_ source: String, _ kind: Kind = .plain) {
        guard let regex = try? Regex(source) else { return nil }
        self.source = source
        let plain = regex.ignoresCase().matchingSemantics(.unicodeScalar)
        self.regex =
            switch kind {
            case .lines: plain.anchorsMatchLineEndings()
            case .body: plain.dotMatchesNewlines()
            case .plain: plain
            }
        let hasCase = source.unicodeScalars.contains { !$0.isASCII && ($0.properties.isLowercase || $0.properties.isUppercase) }
        let isLiteral = !source.isEmpty && !hasCase && !source.utf8.contains(where: Self.special.contains)
        self.literal = isLiteral ? source.utf8.map(Self.lower) : nil
    }

    func matches(_ text: String) -> Bool { self.matches(Array(text.utf8)) }

    func matches(_ octets: [UInt8]) -> Bool {
        if let literal = self.literal { return octets.withUnsafeBytes { Self.find(literal, in: $0) } }
        return ((try? self.regex.firstMatch(in: String(decoding: octets, as: UTF8.self))) ?? nil) != nil
    }

    private static func find(_ literal: [UInt8], in octets: UnsafeRawBufferPointer) -> Bool {
        guard octets.count >= literal.count else { return false }
        let first = literal[0]
        for start in 0...octets.count - literal.count where self.lower(octets[start]) == first {
            var index = 1
            while index < literal.count, self.lower(octets[start + index]) == literal[index] { index += 1 }
            if index == literal.count { return true }
        }
        return false
    }

    private static func lower(_ octet: UInt8) -> UInt8 { octet >= 65 && octet <= 90 ? octet | 32 : octet }
}
