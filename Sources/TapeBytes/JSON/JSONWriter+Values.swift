/// Strings, numbers and the other values that a member or an element has.
extension JSONWriter {
    /// Text that is JSON already, without a line end in it.
    public mutating func raw(_ text: StaticString) {
        self.raw(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    @inline(__always)
    public mutating func raw(_ text: UnsafeRawBufferPointer) {
        self.append(atMost: text.count) { room in
            room.copyMemory(from: text)
            return text.count
        }
    }

    public mutating func raw(_ text: [UInt8]) { text.withUnsafeBytes { self.raw($0) } }

    public mutating func bool(_ value: Bool) { self.raw(value ? "true" : "false") }

    public mutating func string(_ text: String) {
        var text = text
        text.withUTF8 { self.string(utf8: UnsafeRawBufferPointer($0)) }
    }

    /// A string of bytes that the caller knows to be UTF-8.
    public mutating func string(utf8 text: UnsafeRawBufferPointer) {
        self.byte(UInt8(ascii: "\""))
        self.stringPiece(utf8: text)
        self.byte(UInt8(ascii: "\""))
    }

    /// A piece of a string whose quotes the caller writes.
    package mutating func stringPiece(utf8 text: UnsafeRawBufferPointer) {
        var start = 0
        while start < text.count {
            let stop = ByteScan.endOfPlain(text, from: start, stopAtDelete: true)
            if stop > start { self.raw(UnsafeRawBufferPointer(rebasing: text[start..<stop])) }
            guard stop < text.count else { return }
            self.escape(text[stop])
            start = stop + 1
        }
    }

    /// A string in which each octet stands for the character of the same number (ISO 8859-1).
    public mutating func string(latin1 octets: UnsafeRawBufferPointer) {
        self.byte(UInt8(ascii: "\""))
        for octet in octets {
            switch octet {
            case 0x80...:
                self.byte(0xC0 | octet >> 6)
                self.byte(0x80 | octet & 0x3F)
            case ..<0x20, UInt8(ascii: "\""), UInt8(ascii: "\\"), 0x7F: self.escape(octet)
            default: self.byte(octet)
            }
        }
        self.byte(UInt8(ascii: "\""))
    }

    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): self.raw("\\\"")
        case UInt8(ascii: "\\"): self.raw("\\\\")
        case 8: self.raw("\\b")
        case 9: self.raw("\\t")
        case 10: self.raw("\\n")
        case 12: self.raw("\\f")
        case 13: self.raw("\\r")
        default:
            self.raw("\\u00")
            self.byte(Hex.digit(byte >> 4))
            self.byte(Hex.digit(byte & 15))
        }
    }

    /// Octets as base64, in quotes.
    public mutating func base64(_ octets: UnsafeRawBufferPointer) {
        self.byte(UInt8(ascii: "\""))
        self.append(atMost: Base64.length(of: octets.count)) { Base64.encode(octets, into: $0) }
        self.byte(UInt8(ascii: "\""))
    }

    /// Eight hex digits in quotes.
    public mutating func hex(_ value: UInt32) {
        self.byte(UInt8(ascii: "\""))
        for shift in stride(from: 28, through: 0, by: -4) {
            self.byte(Hex.digit(UInt8(truncatingIfNeeded: value >> UInt32(shift)) & 15))
        }
        self.byte(UInt8(ascii: "\""))
    }

    public mutating func timestamp(_ time: Timestamp) {
        self.append(atMost: 29) { room in
            room[0] = UInt8(ascii: "\"")
            time.write { index, byte in room[index + 1] = byte }
            room[28] = UInt8(ascii: "\"")
            return 29
        }
    }

    /// A time without decimals where they would be zeros: `2026-11-21T00:00:00Z`.
    package mutating func shortTimestamp(_ time: Timestamp) {
        guard time.microseconds % 1_000_000 == 0 else { return self.timestamp(time) }
        self.append(atMost: 22) { room in
            room[0] = UInt8(ascii: "\"")
            time.write { index, byte in if index < 19 { room[index + 1] = byte } }
            room[20] = UInt8(ascii: "Z")
            room[21] = UInt8(ascii: "\"")
            return 22
        }
    }

    /// Members of a newer format, as they came.
    public mutating func unknown(_ members: [UnknownMember]) {
        for member in members {
            self.member(named: member.name)
            self.raw(member.json)
        }
    }

    public mutating func integer(_ value: Int) {
        if value < 0 { self.byte(UInt8(ascii: "-")) }
        self.digits(UInt64(value.magnitude))
    }

    /// A number with at most three decimals and no exponent; anything that is not finite is written as 0.
    public mutating func milliseconds(_ value: Double) {
        guard value.isFinite else { return self.byte(UInt8(ascii: "0")) }
        // 2^62 thousandths are 146,000 years.
        let scaled = UInt64(min(value.magnitude * 1000 + 0.5, 0x1p62))
        if value < 0, scaled > 0 { self.byte(UInt8(ascii: "-")) }
        self.digits(scaled / 1000)
        let fraction = UInt8(truncatingIfNeeded: scaled % 1000 / 10)
        let last = UInt8(truncatingIfNeeded: scaled % 10)
        guard fraction > 0 || last > 0 else { return }
        self.byte(UInt8(ascii: "."))
        self.byte(48 + fraction / 10)
        guard fraction % 10 > 0 || last > 0 else { return }
        self.byte(48 + fraction % 10)
        if last > 0 { self.byte(48 + last) }
    }

    private mutating func digits(_ value: UInt64) {
        if value < 10 { return self.byte(48 + UInt8(truncatingIfNeeded: value)) }
        var power: UInt64 = 10
        while power <= value / 10 { power *= 10 }
        var rest = value
        while power > 0 {
            self.byte(48 + UInt8(truncatingIfNeeded: rest / power))
            rest %= power
            power /= 10
        }
    }
}

/// An object member that this version of the format does not know, as its raw JSON text.
public struct UnknownMember: Sendable, Hashable {
    public var name: String
    /// The value's JSON text, byte for byte.
    public var json: [UInt8]

    public init(name: String, json: [UInt8]) {
        self.name = name
        self.json = json
    }
}
