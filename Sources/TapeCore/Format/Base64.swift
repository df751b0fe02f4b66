/// Base64 with the standard alphabet and padding (RFC 4648, 4).
public enum Base64 {
    private static let alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

    /// Appends the text of `octets`, padded at its end.
    public static func encode(_ octets: UnsafeRawBufferPointer, into text: inout [UInt8]) {
        let alphabet = self.alphabet.utf8Start
        let whole = octets.count / 3 * 3
        text.reserveCapacity(text.count + (octets.count + 2) / 3 * 4)
        var offset = 0
        while offset < whole {
            let first = Int(octets[offset]), second = Int(octets[offset + 1]), third = Int(octets[offset + 2])
            text.append(alphabet[first >> 2])
            text.append(alphabet[(first & 3) << 4 | second >> 4])
            text.append(alphabet[(second & 15) << 2 | third >> 6])
            text.append(alphabet[third & 63])
            offset += 3
        }
        guard offset < octets.count else { return }
        let first = Int(octets[offset])
        let second = offset + 1 < octets.count ? Int(octets[offset + 1]) : nil
        text.append(alphabet[first >> 2])
        text.append(alphabet[(first & 3) << 4 | (second ?? 0) >> 4])
        text.append(second.map { alphabet[($0 & 15) << 2] } ?? UInt8(ascii: "="))
        text.append(UInt8(ascii: "="))
    }

    /// Nil where the text is not exactly what `encode` writes: no white space, padding required, unused bits zero.
    public static func decode(_ text: [UInt8]) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        var octets: [UInt8] = []
        octets.reserveCapacity(text.count / 4 * 3)
        var end = text.count
        while end > 0, text.count - end < 2, text[end - 1] == UInt8(ascii: "=") { end -= 1 }
        var bits: UInt32 = 0
        var held = 0
        for character in text[..<end] {
            guard let value = self.value(character) else { return nil }
            bits = bits << 6 | UInt32(value)
            held += 6
            guard held >= 8 else { continue }
            held -= 8
            octets.append(UInt8(truncatingIfNeeded: bits >> UInt32(held)))
        }
        guard bits & (1 << UInt32(held) - 1) == 0 else { return nil }
        return octets
    }

    @inline(__always)
    private static func value(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - 71
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character + 4
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
