/// The character classes of RFC 9110, 5.6, and the search for the end of a line.
///
/// Works on bytes only. Grammar beyond character classes is elsewhere.
enum ASCII {
    static let tab: UInt8 = 9
    static let lineFeed: UInt8 = 10
    static let carriageReturn: UInt8 = 13
    static let space: UInt8 = 32

    /// One bit for each ASCII character of `tchar` (RFC 9110, 5.6.2).
    private static let tokenLow: UInt64 = 0x03FF_6CFA_0000_0000
    private static let tokenHigh: UInt64 = 0x57FF_FFFF_C7FF_FFFE

    @inline(__always)
    static func isToken(_ byte: UInt8) -> Bool {
        let word = byte < 64 ? self.tokenLow : self.tokenHigh
        return byte < 128 && (word &>> UInt64(byte)) & 1 == 1
    }

    @inline(__always)
    static func isVisible(_ byte: UInt8) -> Bool { byte > 32 && byte < 127 }

    @inline(__always)
    static func isControl(_ byte: UInt8) -> Bool { byte < 32 || byte == 127 }

    @inline(__always)
    static func isDigit(_ byte: UInt8) -> Bool { byte >= 48 && byte <= 57 }

    @inline(__always)
    static func lower(_ byte: UInt8) -> UInt8 { byte >= 65 && byte <= 90 ? byte | 32 : byte }

    @inline(__always)
    static func hexDigit(_ byte: UInt8) -> UInt8? {
        if self.isDigit(byte) { return byte - 48 }
        let letter = byte | 32
        return letter >= 97 && letter <= 102 ? letter - 87 : nil
    }

    /// The first control byte other than HTAB at or after `start`, or `end`. `end` must not pass the buffer.
    static func firstControl(in bytes: UnsafeRawBufferPointer, from start: Int, to end: Int) -> Int {
        var index = start
        while index < end {
            // Take eight bytes at a time while none is below 0x20 or equal to 0x7F ("determine if a word has a byte less than n").
            while end - index >= 8 {
                let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                let deletes = word ^ 0x7F7F_7F7F_7F7F_7F7F
                let low = (word &- 0x2020_2020_2020_2020) & ~word
                let delete = (deletes &- 0x0101_0101_0101_0101) & ~deletes
                if (low | delete) & 0x8080_8080_8080_8080 != 0 { break }
                index += 8
            }
            let stop = min(end, index + 8)
            while index < stop {
                let byte = bytes[index]
                if self.isControl(byte), byte != self.tab { return index }
                index += 1
            }
        }
        return end
    }

    /// Up to 48 bytes in quotes for a message, with everything but visible ASCII and spaces escaped.
    static func quoted(_ bytes: some Collection<UInt8>) -> String {
        var text = "\""
        for byte in bytes.prefix(48) {
            if byte == 34 || byte == 92 {
                text += "\\" + String(UnicodeScalar(byte))
            } else if self.isVisible(byte) || byte == self.space {
                text.unicodeScalars.append(UnicodeScalar(byte))
            } else {
                text += self.escaped(byte)
            }
        }
        return text + (bytes.count > 48 ? "\"…" : "\"")
    }

    static func escaped(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16, uppercase: true)
        return "\\x" + (digits.utf8.count == 1 ? "0" : "") + digits
    }
}

/// The elements of a comma-separated field value, trimmed and without empty ones (RFC 9110, 5.6.1).
///
/// For lists of tokens: a comma inside quotes also separates elements.
struct FieldList: Sequence, IteratorProtocol {
    private var rest: ArraySlice<UInt8>

    init(_ value: ArraySlice<UInt8>) {
        self.rest = value
    }

    mutating func next() -> ArraySlice<UInt8>? {
        while !self.rest.isEmpty {
            let end = self.rest.firstIndex(of: UInt8(ascii: ",")) ?? self.rest.endIndex
            var element = self.rest[self.rest.startIndex..<end]
            self.rest = self.rest[Swift.min(end + 1, self.rest.endIndex)...]
            while let first = element.first, first == ASCII.space || first == ASCII.tab { element.removeFirst() }
            while let last = element.last, last == ASCII.space || last == ASCII.tab { element.removeLast() }
            if !element.isEmpty { return element }
        }
        return nil
    }

    /// Case-insensitive.
    static func equals(_ element: some Collection<UInt8>, _ lowercase: StaticString) -> Bool {
        guard element.count == lowercase.utf8CodeUnitCount else { return false }
        var offset = 0
        for byte in element {
            // SAFETY: the element is as long as the literal, so the offset stays within it.
            if ASCII.lower(byte) != lowercase.utf8Start[offset] { return false }
            offset += 1
        }
        return true
    }
}
