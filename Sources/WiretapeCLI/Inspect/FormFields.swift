/// The fields of an `application/x-www-form-urlencoded` body as people read them.
///
/// Not exact: the recorded spelling stays in the cassette.
enum FormFields {
    struct Field: Equatable {
        var name: [UInt8]
        var value: [UInt8]
    }

    static func decode(_ octets: [UInt8]) -> [Field] {
        octets.split(separator: UInt8(ascii: "&")).map { part in
            let equals = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            return Field(name: self.plain(part[..<equals]), value: self.plain(part[equals...].dropFirst()))
        }
    }

    /// With `+` and percent escapes taken off (WHATWG URL, 5.1).
    private static func plain(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var octets: [UInt8] = []
        var index = text.startIndex
        while index < text.endIndex {
            if text[index] == UInt8(ascii: "%"), text.endIndex - index > 2, let high = self.digit(text[index + 1]),
                let low = self.digit(text[index + 2])
            {
                octets.append(high << 4 | low)
                index += 3
            } else {
                octets.append(text[index] == UInt8(ascii: "+") ? 32 : text[index])
                index += 1
            }
        }
        return octets
    }

    private static func digit(_ octet: UInt8) -> UInt8? {
        Character(Unicode.Scalar(octet)).hexDigitValue.flatMap { octet < 0x80 ? UInt8($0) : nil }
    }
}
