/// The exact value of a JSON number in one spelling, so that `1`, `1.0` and `10e-1` are the same octets.
package struct DecimalValue {
    /// Digits without zeros at either end and a decimal exponent, `15e-1`; `0` for zero of either sign.
    package let octets: [UInt8]

    /// Longer exponents are not reckoned with: nothing sends them.
    private static let exponentDigits = 15

    /// Nil where the exponent is too long to reckon with. `text` is a number as JSON has it.
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
            self.octets = [48]
            return
        }
        if isNegative { digits.insert(UInt8(ascii: "-"), at: 0) }
        if exponent != 0 { digits += "e\(exponent)".utf8 }
        self.octets = digits
    }

    private static func exponent(_ text: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var value = 0
        var count = 0
        for octet in text[start...] where octet >= 48 && octet <= 57 {
            if count > 0 || octet != 48 { count += 1 }
            guard count <= Self.exponentDigits else { return nil }
            value = value * 10 + Int(octet - 48)
        }
        return start < text.count && text[start] == UInt8(ascii: "-") ? -value : value
    }
}
