/// Takes the escapes out of a JSON string (RFC 8259, 7).
package enum JSONStringDecoder {
    /// The UTF-8 of what stands between a string's quotes; nil for half a surrogate pair or an escape JSON does not know.
    package static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var offset = text.startIndex
        while offset < text.endIndex {
            let byte = text[offset]
            guard byte == UInt8(ascii: "\\") else {
                result.append(byte)
                offset += 1
                continue
            }
            guard offset + 1 < text.endIndex else { return nil }
            switch text[offset + 1] {
            case UInt8(ascii: "\""): result.append(UInt8(ascii: "\""))
            case UInt8(ascii: "\\"): result.append(UInt8(ascii: "\\"))
            case UInt8(ascii: "/"): result.append(UInt8(ascii: "/"))
            case UInt8(ascii: "b"): result.append(8)
            case UInt8(ascii: "f"): result.append(12)
            case UInt8(ascii: "n"): result.append(10)
            case UInt8(ascii: "r"): result.append(13)
            case UInt8(ascii: "t"): result.append(9)
            case UInt8(ascii: "u"):
                guard let (scalar, length) = self.scalar(in: text, at: offset) else { return nil }
                result.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
                offset += length
                continue
            default: return nil
            }
            offset += 2
        }
        return result
    }

    /// The character that `\uXXXX`, or two of them as a surrogate pair, stand for.
    private static func scalar(in text: ArraySlice<UInt8>, at offset: Int) -> (Unicode.Scalar, length: Int)? {
        guard let first = self.unit(in: text, at: offset) else { return nil }
        if let scalar = Unicode.Scalar(first) { return (scalar, 6) }
        guard first < 0xDC00, let second = self.unit(in: text, at: offset + 6), second >= 0xDC00, second <= 0xDFFF else { return nil }
        guard let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00)) else { return nil }
        return (scalar, 12)
    }

    private static func unit(in text: ArraySlice<UInt8>, at offset: Int) -> UInt32? {
        guard text.endIndex - offset >= 6, text[offset] == UInt8(ascii: "\\"), text[offset + 1] == UInt8(ascii: "u") else { return nil }
        var unit: UInt32 = 0
        for index in offset + 2..<offset + 6 {
            guard let digit = Hex.value(text[index]) else { return nil }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }
}
