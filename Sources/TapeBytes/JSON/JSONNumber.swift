/// The value of a number's spelling.
package enum JSONNumber {
    /// Nil for a fraction, an exponent, or a number past 64 bits.
    package static func int(_ text: ArraySlice<UInt8>) -> Int? {
        let isNegative = text.first == UInt8(ascii: "-")
        let digits = isNegative ? text.dropFirst() : text
        guard !digits.isEmpty else { return nil }
        var value = 0
        for digit in digits {
            guard digit >= 48, digit <= 57 else { return nil }
            let (product, isLarge) = value.multipliedReportingOverflow(by: 10)
            let (sum, isLarger) = product.subtractingReportingOverflow(Int(digit - 48))
            guard !isLarge, !isLarger else { return nil }
            value = sum
        }
        guard !isNegative else { return value }
        return value == .min ? nil : -value
    }

    private static let powers: [Double] = [1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15]

    /// Nil for a number that is not finite as a double.
    static func double(_ text: ArraySlice<UInt8>) -> Double? {
        self.shortDouble(text) ?? Double(String(decoding: text, as: UTF8.self)).flatMap { $0.isFinite ? $0 : nil }
    }

    /// Up to 15 digits without exponent: both parts are exact doubles, so that one division rounds right.
    private static func shortDouble(_ text: ArraySlice<UInt8>) -> Double? {
        guard text.count <= 17 else { return nil }
        var digits = 0
        var decimals = 0
        var value: Int64 = 0
        var isFraction = false
        for byte in text {
            switch byte {
            case 48...57:
                value = value * 10 + Int64(byte - 48)
                digits += 1
                if isFraction { decimals += 1 }
            case UInt8(ascii: "."): isFraction = true
            case UInt8(ascii: "-"): continue
            default: return nil
            }
        }
        guard digits > 0, digits <= 15 else { return nil }
        let magnitude = Double(value) / self.powers[decimals]
        return text.first == UInt8(ascii: "-") ? -magnitude : magnitude
    }
}
