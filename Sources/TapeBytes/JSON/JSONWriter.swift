/// Writes JSON text in the cassette's layout: indented by two spaces a level, or an entire container on one line.
///
/// Trusts the caller to call in a valid order (a member inside an object, a value after a member), and to pass strings in UTF-8.
public struct JSONWriter: Sendable {
    public enum Layout: Sendable {
        /// One member or element per line.
        case lines
        /// `{ "a": 1, "b": [2, 3] }`
        case inline
        /// On one line, apart from the lines of the containers in it: the last of them may be split over lines, indented as if this
        /// container did not exist.
        case hanging
    }

    /// The text is the first `count` bytes; the rest is spare room.
    private var storage: [UInt8]
    public private(set) var count = 0
    private var lineStart = 0
    /// Levels of containers around the text itself.
    private var baseDepth = 0
    /// The number of open containers, and one bit for each: the innermost is the lowest.
    private var openCount = 0
    private var inlineBits: UInt64 = 0
    private var filledBits: UInt64 = 0
    private var hangingBits: UInt64 = 0
    /// Open containers with the layout `hanging`, which do not indent.
    private var hangingCount = 0

    public init(reserving capacity: Int = 4096) {
        self.storage = Array(repeating: 0, count: max(capacity, 64))
    }

    /// A copy of the text; `withUnsafeBytes` does not copy.
    public var bytes: [UInt8] { Array(self.storage[..<self.count]) }
    /// Bytes since the last line end.
    public var column: Int { self.count - self.lineStart }
    /// How deep a new member is indented, in levels.
    public var depth: Int { self.baseDepth + self.openCount - self.hangingCount }

    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try self.storage.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[..<self.count])) }
    }

    /// Removes the text and keeps the capacity.
    public mutating func removeAll(baseDepth: Int = 0) {
        self.count = 0
        self.beginFragment(baseDepth: baseDepth)
    }

    /// Removes the text after the caller has passed it on; containers stay open.
    package mutating func drain() {
        self.count = 0
        self.lineStart = 0
    }

    /// Starts a text of the given depth after the existing text.
    package mutating func beginFragment(baseDepth: Int) {
        self.openCount = 0
        self.inlineBits = 0
        self.filledBits = 0
        self.hangingBits = 0
        self.hangingCount = 0
        self.baseDepth = baseDepth
        self.lineStart = self.count
    }

    /// A position to return to. For values only, because it does not record open containers.
    package struct Mark {
        fileprivate var count: Int
        fileprivate var lineStart: Int
    }

    package var mark: Mark { Mark(count: self.count, lineStart: self.lineStart) }

    /// Removes everything written after a mark.
    package mutating func rewind(to mark: Mark) {
        self.count = mark.count
        self.lineStart = mark.lineStart
    }

    // MARK: Storage

    @inline(__always)
    private mutating func reserve(_ more: Int) {
        if self.storage.count - self.count < more { self.grow(more) }
    }

    @inline(never)
    private mutating func grow(_ more: Int) {
        self.storage.append(contentsOf: repeatElement(0, count: max(more, self.storage.count)))
    }

    /// Lets `write` fill up to `most` bytes after the text and return the number it filled.
    @inline(__always)
    mutating func append(atMost most: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int) {
        self.reserve(most)
        let start = self.count
        let written = self.storage.withUnsafeMutableBytes {
            write(UnsafeMutableRawBufferPointer(rebasing: $0[start..<start + most]))
        }
        self.count = start + min(max(written, 0), most)
    }

    @inline(__always)
    package mutating func byte(_ byte: UInt8) {
        self.reserve(1)
        self.storage[self.count] = byte
        self.count += 1
    }

    // MARK: Structure

    public mutating func beginObject(_ layout: Layout) { self.begin(UInt8(ascii: "{"), layout) }
    public mutating func beginArray(_ layout: Layout) { self.begin(UInt8(ascii: "["), layout) }

    private mutating func begin(_ bracket: UInt8, _ layout: Layout) {
        self.byte(bracket)
        let isForced = self.inlineBits & 1 == 1 && self.hangingBits & 1 == 0
        let isHanging = layout == .hanging && !isForced
        self.inlineBits = self.inlineBits << 1 | (isForced || layout != .lines ? 1 : 0)
        self.filledBits <<= 1
        self.hangingBits = self.hangingBits << 1 | (isHanging ? 1 : 0)
        if isHanging { self.hangingCount += 1 }
        self.openCount += 1
    }

    public mutating func endObject() { self.end(UInt8(ascii: "}"), isPadded: true) }
    public mutating func endArray() { self.end(UInt8(ascii: "]"), isPadded: false) }

    private mutating func end(_ bracket: UInt8, isPadded: Bool) {
        let isInline = self.inlineBits & 1 == 1
        let isFilled = self.filledBits & 1 == 1
        if self.hangingBits & 1 == 1 { self.hangingCount -= 1 }
        self.inlineBits >>= 1
        self.filledBits >>= 1
        self.hangingBits >>= 1
        self.openCount -= 1
        if isFilled {
            if !isInline { self.newline(depth: self.depth) } else if isPadded { self.byte(UInt8(ascii: " ")) }
        }
        self.byte(bracket)
    }

    /// Begins a member with a name that needs no escapes.
    public mutating func member(_ name: StaticString) {
        self.separate(isMember: true)
        let length = name.utf8CodeUnitCount
        self.append(atMost: length + 4) { room in
            room[0] = UInt8(ascii: "\"")
            for index in 0..<length { room[1 + index] = name.utf8Start[index] }
            room[length + 1] = UInt8(ascii: "\"")
            room[length + 2] = UInt8(ascii: ":")
            room[length + 3] = UInt8(ascii: " ")
            return length + 4
        }
    }

    public mutating func member(named name: String) {
        self.separate(isMember: true)
        self.string(name)
        self.raw(": ")
    }

    /// Begins an element of an array.
    public mutating func element() { self.separate(isMember: false) }

    private mutating func separate(isMember: Bool) {
        let isFilled = self.filledBits & 1 == 1
        self.filledBits |= 1
        if self.inlineBits & 1 == 0 {
            self.newline(depth: self.depth, afterComma: isFilled)
        } else if isFilled {
            self.raw(", ")
        } else if isMember {
            self.byte(UInt8(ascii: " "))
        }
    }

    public mutating func newline(depth: Int) { self.newline(depth: depth, afterComma: false) }

    @inline(__always)
    private mutating func newline(depth: Int, afterComma: Bool) {
        let comma = afterComma ? 1 : 0
        self.append(atMost: comma + 1 + Self.indentRoom(depth: depth)) { room in
            if afterComma { room[0] = UInt8(ascii: ",") }
            room[comma] = 10
            return comma + 1 + Self.indent(depth: depth, to: UnsafeMutableRawBufferPointer(rebasing: room[(comma + 1)...]))
        }
        self.lineStart = self.count - depth * 2
    }

    public mutating func indent(depth: Int) {
        self.append(atMost: Self.indentRoom(depth: depth)) { Self.indent(depth: depth, to: $0) }
    }

    /// Spaces are written eight at a time.
    @inline(__always)
    private static func indentRoom(depth: Int) -> Int { (depth * 2 + 7) & ~7 }

    // SAFETY: there is room for `indentRoom` bytes, where the last eight end.
    @inline(__always)
    private static func indent(depth: Int, to room: UnsafeMutableRawBufferPointer) -> Int {
        for offset in stride(from: 0, to: depth * 2, by: 8) {
            room.storeBytes(of: 0x2020_2020_2020_2020, toByteOffset: offset, as: UInt64.self)
        }
        return depth * 2
    }
}

/// Strings, numbers and other values.
extension JSONWriter {
    /// Text that is already JSON and has no line end.
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

    /// Writes bytes as a string; the caller knows that they are UTF-8.
    public mutating func string(utf8 text: UnsafeRawBufferPointer) {
        let plain = ByteScan.endOfPlain(text, from: 0, stopAtDelete: true)
        let isPlain = plain == text.count
        self.append(atMost: plain + 2) { room in
            room[0] = UInt8(ascii: "\"")
            UnsafeMutableRawBufferPointer(rebasing: room[1...]).copyMemory(from: UnsafeRawBufferPointer(rebasing: text[..<plain]))
            if isPlain { room[plain + 1] = UInt8(ascii: "\"") }
            return plain + (isPlain ? 2 : 1)
        }
        guard !isPlain else { return }
        self.stringPiece(utf8: UnsafeRawBufferPointer(rebasing: text[plain...]))
        self.byte(UInt8(ascii: "\""))
    }

    /// Writes a piece of a string; the caller writes the quotes.
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

    /// Writes ISO 8859-1 bytes as a string.
    public mutating func string(latin1 bytes: UnsafeRawBufferPointer) {
        self.byte(UInt8(ascii: "\""))
        for byte in bytes {
            switch byte {
            case 0x80...:
                self.byte(0xC0 | byte >> 6)
                self.byte(0x80 | byte & 0x3F)
            case ..<0x20, UInt8(ascii: "\""), UInt8(ascii: "\\"), 0x7F: self.escape(byte)
            default: self.byte(byte)
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

    /// Writes bytes as base64, in quotes.
    public mutating func base64(_ bytes: UnsafeRawBufferPointer) {
        self.byte(UInt8(ascii: "\""))
        self.append(atMost: Base64.length(of: bytes.count)) { Base64.encode(bytes, into: $0) }
        self.byte(UInt8(ascii: "\""))
    }

    /// Writes eight hex digits in quotes.
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

    /// Writes a time, without decimals if they are zeros: `2026-11-21T00:00:00Z`.
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

    /// Writes the members of a newer format as they were read.
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

    /// Writes a number with at most three decimals and no exponent; a value that is not finite becomes 0.
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
    /// In an exchange or a cassette's head: what an archive contains in addition to its messages.
    public static let archiveName = "har"

    public var name: String
    /// The value's JSON text, byte for byte.
    public var json: [UInt8]

    public init(name: String, json: [UInt8]) {
        self.name = name
        self.json = json
    }
}
