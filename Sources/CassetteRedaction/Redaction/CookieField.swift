internal import CassetteModel
internal import TapeBytes

/// The values of cookies in a Cookie or Set-Cookie field (RFC 6265, 4): names and attributes stay.
enum CookieField {
    /// - Parameter isEscaped: in a string of JSON or a program, where a quote has a backslash.
    static func findings(
        in text: UnsafeRawBufferPointer, _ range: Range<Int>, isSet: Bool, isEscaped: Bool = false
    ) -> [Finding] {
        func isAround(_ byte: UInt8) -> Bool {
            byte <= 32 || byte == UInt8(ascii: "\"") || isEscaped && byte == UInt8(ascii: "\\")
        }
        var findings: [Finding] = []
        var start = range.lowerBound
        while start < range.upperBound {
            let end = ByteScan.index(
                of: UInt8(ascii: ";"), in: UnsafeRawBufferPointer(rebasing: text[..<range.upperBound]), from: start)
            let equals = (start..<end).first { text[$0] == UInt8(ascii: "=") }
            // A cookie without a name is a value (RFC 6265bis, 5.6).
            var (lower, upper) = (equals.map { $0 + 1 } ?? start, end)
            while lower < upper, isAround(text[lower]) { lower += 1 }
            while lower < upper, isAround(text[upper - 1]) { upper -= 1 }
            let value = UnsafeRawBufferPointer(rebasing: text[lower..<upper])
            if !value.isEmpty, !Placeholder.isWhole(value) {
                findings.append(Finding(kind: "cookie", range: lower..<upper, secret: Array(value), spelling: .plain, isSure: false))
            }
            if isSet { break }
            start = end + 1
        }
        return findings
    }

    /// Whether a text begins as one of these fields does: with a name, which is a token (RFC 9110, 5.6.2), and an equals sign.
    static func mayBe(_ text: UnsafeRawBufferPointer, _ range: Range<Int>) -> Bool {
        guard let equals = range.prefix(128).first(where: { text[$0] == UInt8(ascii: "=") }), equals > range.lowerBound else {
            return false
        }
        return (range.lowerBound..<equals).allSatisfy {
            FormSpelling.isAlphanumeric(text[$0]) || "_-.$!%*+~|".utf8.contains(text[$0])
        }
    }
}
