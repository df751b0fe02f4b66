/// Bytes as pairs of lower-case hex digits.
public enum Hex {
    @inline(__always)
    package static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 48 + value : 87 + value }

    /// The value of a hex digit of either case.
    @inline(__always)
    package static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 48...57: digit - 48
        case 97...102: digit - 87
        case 65...70: digit - 55
        default: nil
        }
    }

    public static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var digits: [UInt8] = []
        digits.reserveCapacity(bytes.underestimatedCount * 2)
        for byte in bytes {
            digits.append(self.digit(byte >> 4))
            digits.append(self.digit(byte & 15))
        }
        return String(decoding: digits, as: UTF8.self)
    }

    /// Nil if the text is not pairs of hex digits.
    public static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.underestimatedCount / 2)
        var upper: UInt8?
        for digit in text {
            guard let value = self.value(digit) else { return nil }
            if let first = upper {
                bytes.append(first << 4 | value)
                upper = nil
            } else {
                upper = value
            }
        }
        return upper == nil ? bytes : nil
    }
}
