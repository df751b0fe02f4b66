/// Finds bytes that no text has: control characters but tab and line ends, and what is not UTF-8 (RFC 3629).
///
/// Fed piece by piece; knows nothing of JSON.
struct TextCheck {
    /// Continuation bytes still to come, and the range of the next one.
    private var missing = 0
    private var low: UInt8 = 0x80
    private var high: UInt8 = 0xbf

    /// Whether a character has begun that is not complete.
    var isInsideCharacter: Bool { self.missing > 0 }

    /// The offset of the first bad byte.
    mutating func firstBad(in bytes: UnsafeRawBufferPointer) -> Int? {
        guard let base = bytes.baseAddress else { return nil }
        let count = bytes.count
        var offset = 0
        // SAFETY: every load below is behind a comparison of its end with `count`.
        while offset < count {
            if self.missing == 0 {
                while offset &+ 8 <= count {
                    let word = base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                    // Set where a byte is 0x80 or above, or below 0x20.
                    let flags = (word | (word &- 0x2020_2020_2020_2020 & ~word)) & 0x8080_8080_8080_8080
                    if flags != 0 { break }
                    offset &+= 8
                }
                guard offset < count else { return nil }
            }
            let byte = base.load(fromByteOffset: offset, as: UInt8.self)
            guard self.accept(byte) else { return offset }
            offset &+= 1
        }
        return nil
    }

    /// Takes the next byte; false when no text can have it there.
    mutating func accept(_ byte: UInt8) -> Bool {
        if self.missing > 0 {
            guard byte >= self.low, byte <= self.high else { return false }
            self.missing &-= 1
            self.low = 0x80
            self.high = 0xbf
            return true
        }
        switch byte {
        case 0x20..<0x80, 9, 10, 13: return true
        case 0xc2...0xdf: self.missing = 1
        case 0xe0...0xef:
            self.missing = 2
            if byte == 0xe0 { self.low = 0xa0 }
            if byte == 0xed { self.high = 0x9f }
        case 0xf0...0xf4:
            self.missing = 3
            if byte == 0xf0 { self.low = 0x90 }
            if byte == 0xf4 { self.high = 0x8f }
        default: return false
        }
        return true
    }
}
