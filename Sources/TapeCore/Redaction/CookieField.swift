/// The values of cookies in a Cookie or Set-Cookie field (RFC 6265, 4): names and attributes stay.
enum CookieField {
    static func findings(in text: UnsafeRawBufferPointer, _ range: Range<Int>, isSet: Bool) -> [Finding] {
        var findings: [Finding] = []
        var start = range.lowerBound
        while start < range.upperBound {
            let end = ByteScan.index(
                of: UInt8(ascii: ";"), in: UnsafeRawBufferPointer(rebasing: text[..<range.upperBound]), from: start)
            let equals = (start..<end).first { text[$0] == UInt8(ascii: "=") }
            // A cookie without a name is a value (RFC 6265bis, 5.6).
            var (lower, upper) = (equals.map { $0 + 1 } ?? start, end)
            while lower < upper, text[lower] <= 32 || text[lower] == UInt8(ascii: "\"") { lower += 1 }
            while lower < upper, text[upper - 1] <= 32 || text[upper - 1] == UInt8(ascii: "\"") { upper -= 1 }
            let value = UnsafeRawBufferPointer(rebasing: text[lower..<upper])
            if !value.isEmpty, !Placeholder.isWhole(value) {
                findings.append(Finding(kind: "cookie", range: lower..<upper, secret: Array(value), spelling: .plain, isSure: false))
            }
            if isSet { break }
            start = end + 1
        }
        return findings
    }
}
