/// The inside of interactions and of nested values: brackets and strings, eight octets at a time.
extension CassetteStructure {
    /// The inside of an interaction or of an outer member's object or array.
    mutating func nested(_ bytes: UnsafeRawBufferPointer, from start: Int, at base: Int) -> Int {
        Self.isPlain.withUnsafeBufferPointer { isPlain in
            guard let pointer = bytes.baseAddress, let isPlain = isPlain.baseAddress else { return bytes.count }
            return self.nested(pointer, from: start, to: bytes.count, at: base, isPlain)
        }
    }

    /// SAFETY: every load from `pointer` is behind a comparison of its end with `count`; `isPlain` has an entry for every byte.
    @inline(__always)
    private mutating func nested(
        _ pointer: UnsafeRawPointer, from start: Int, to count: Int, at base: Int, _ isPlain: UnsafePointer<Bool>
    ) -> Int {
        var offset = start
        scan: while offset < count {
            if self.isInString {
                offset = self.string(pointer, from: offset, to: count, at: base)
                if self.trouble != nil { return offset }
                continue
            }
            let byte = pointer.load(fromByteOffset: offset, as: UInt8.self)
            offset &+= 1
            if isPlain[Int(byte)] { continue }
            switch byte {
            case UInt8(ascii: "\""):
                // Most strings are short and plain: past them without leaving the loop.
                while offset &+ 8 <= count {
                    let flags = Self.special(UInt64(littleEndian: pointer.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
                    if flags == 0 {
                        offset &+= 8
                        continue
                    }
                    offset &+= flags.trailingZeroBitCount &>> 3
                    guard pointer.load(fromByteOffset: offset, as: UInt8.self) == UInt8(ascii: "\"") else { break }
                    offset &+= 1
                    continue scan
                }
                self.isInString = true
            case 0x0a:
                // Indentation: eight at a time.
                while offset &+ 8 <= count {
                    let word = UInt64(littleEndian: pointer.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                    let spaces = (word ^ 0x2020_2020_2020_2020).trailingZeroBitCount &>> 3
                    offset &+= spaces
                    if spaces < 8 { break }
                }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                guard self.depth < Self.depthLimit else {
                    self.fail(.tooDeep, at: base &+ offset &- 1)
                    return offset
                }
                self.depth &+= 1
                self.setKind(isArray: byte == UInt8(ascii: "["))
            case UInt8(ascii: "}") where !self.isArray, UInt8(ascii: "]") where self.isArray:
                self.depth &-= 1
                if self.depth == 0 {
                    self.endNested(at: base &+ offset)
                    return offset
                }
            default:
                self.fail(.unexpected(byte), at: base &+ offset &- 1)
                return offset
            }
        }
        return offset
    }

    /// What may stand between strings and brackets and tells nothing: white space but line feeds, separators, numbers and literals.
    private static let isPlain: [Bool] = (0..<256).map { code in
        let byte = UInt8(code)
        return [0x20, 0x0d, 0x09, UInt8(ascii: ","), UInt8(ascii: ":")].contains(byte) || Self.isScalar(byte)
    }

    private mutating func endNested(at end: Int) {
        if self.phase == .element {
            self.interactions.append(self.mark..<end)
            self.phase = .elementEnd
        } else {
            self.phase = .valueEnd
        }
        self.mark = end
    }

    /// The inside of a string up to its closing quote, eight bytes at a time.
    private mutating func string(_ pointer: UnsafeRawPointer, from start: Int, to count: Int, at base: Int) -> Int {
        var offset = start
        if self.isEscaped {
            self.isEscaped = false
            let byte = pointer.load(fromByteOffset: offset, as: UInt8.self)
            guard byte >= 0x20, byte < 0x80 else {
                self.fail(.inString(byte), at: base &+ offset)
                return offset
            }
            offset &+= 1
        }
        while offset < count {
            if !self.text.isInsideCharacter {
                while offset &+ 8 <= count {
                    let word = pointer.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                    let flags = Self.special(UInt64(littleEndian: word))
                    if flags != 0 {
                        offset &+= flags.trailingZeroBitCount &>> 3
                        break
                    }
                    offset &+= 8
                }
                guard offset < count else { return offset }
            }
            let byte = pointer.load(fromByteOffset: offset, as: UInt8.self)
            if byte >= 0x80 || byte < 0x20 || self.text.isInsideCharacter {
                guard byte >= 0x20, self.text.accept(byte) else {
                    self.fail(.inString(byte), at: base &+ offset)
                    return offset
                }
            } else if byte == UInt8(ascii: "\"") {
                self.isInString = false
                return offset &+ 1
            } else if byte == UInt8(ascii: "\\") {
                offset &+= 1
                guard offset < count else {
                    self.isEscaped = true
                    return offset
                }
                let escaped = pointer.load(fromByteOffset: offset, as: UInt8.self)
                guard escaped >= 0x20, escaped < 0x80 else {
                    self.fail(.inString(escaped), at: base &+ offset)
                    return offset
                }
            }
            offset &+= 1
        }
        return offset
    }

    /// The top bit of each byte that is a quote, a backslash, below 0x20 or above 0x7f; exact up to the first such byte.
    @inline(__always)
    private static func special(_ word: UInt64) -> UInt64 {
        // With the second bit turned over a quote is 0x20 and a space is not, so that one subtraction finds quotes and controls.
        let found =
            ((word ^ 0x0202_0202_0202_0202) &- 0x2121_2121_2121_2121)
            | ((word ^ 0x5c5c_5c5c_5c5c_5c5c) &- 0x0101_0101_0101_0101)
            | word
        return found & 0x8080_8080_8080_8080
    }

    mutating func setKind(isArray: Bool) {
        let level = self.depth &- 1
        let bit = UInt64(1) &<< UInt64(level & 63)
        if isArray { self.kinds[level / 64] |= bit } else { self.kinds[level / 64] &= ~bit }
    }

    private var isArray: Bool {
        let level = self.depth &- 1
        return self.kinds[level / 64] & (UInt64(1) &<< UInt64(level & 63)) != 0
    }
}
