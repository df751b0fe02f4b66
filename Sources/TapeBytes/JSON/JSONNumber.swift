/// Reads the text of a JSON number.
package enum JSONNumber {
    /// Nil for a fraction, an exponent, or a number beyond 64 bits.
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

    /// Nil for a number beyond the range of `Double`.
    package static func double(_ text: ArraySlice<UInt8>) -> Double? {
        self.shortDouble(text) ?? Double(String(decoding: text, as: UTF8.self)).flatMap { $0.isFinite ? $0 : nil }
    }

    /// Up to 15 digits without exponent: both parts are exact doubles, so one division rounds correctly.
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

/// The exact value of a JSON number in a canonical form: `1`, `1.0` and `10e-1` have the same bytes.
package struct DecimalValue {
    /// Digits without zeros at either end and a decimal exponent, such as `15e-1`; `0` for zero of either sign.
    package let bytes: [UInt8]

    /// The most digits of an exponent; no real sender writes more.
    private static let exponentDigits = 15

    /// Nil if the exponent is too long. `text` must be a JSON number.
    package init?(_ text: UnsafeRawBufferPointer) {
        var isNegative = false
        var digits: [UInt8] = []
        var exponent = 0
        var isFraction = false
        var index = 0
        if text.first == UInt8(ascii: "-") {
            isNegative = true
            index = 1
        }
        scan: while index < text.count {
            switch text[index] {
            case 48...57:
                if isFraction { exponent -= 1 }
                if !digits.isEmpty || text[index] != 48 { digits.append(text[index]) }
            case UInt8(ascii: "."): isFraction = true
            default: break scan
            }
            index += 1
        }
        if index < text.count {
            guard let written = Self.exponent(text, from: index + 1) else { return nil }
            exponent += written
        }
        while digits.last == 48 {
            digits.removeLast()
            exponent += 1
        }
        guard !digits.isEmpty else {
            self.bytes = [48]
            return
        }
        if isNegative { digits.insert(UInt8(ascii: "-"), at: 0) }
        if exponent != 0 { digits += "e\(exponent)".utf8 }
        self.bytes = digits
    }

    private static func exponent(_ text: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var value = 0
        var count = 0
        for byte in text[start...] where byte >= 48 && byte <= 57 {
            if count > 0 || byte != 48 { count += 1 }
            guard count <= Self.exponentDigits else { return nil }
            value = value * 10 + Int(byte - 48)
        }
        return start < text.count && text[start] == UInt8(ascii: "-") ? -value : value
    }
}
