/// Writes JSON text in the cassette's layout: two spaces a level, or a whole container on one line.
///
/// Trusts its caller for the order of calls (a member inside an object, a value behind a member), and for strings to be UTF-8.
public struct JSONWriter: Sendable {
    public enum Layout: Sendable {
        /// One member or element per line.
        case lines
        /// `{ "a": 1, "b": [2, 3] }`
        case inline
    }

    private struct Frame: Sendable {
        var isInline: Bool
        var isEmpty = true
    }

    public private(set) var bytes: [UInt8] = []
    private var frames: [Frame] = []
    private var baseDepth = 0
    private var lineStart = 0

    public init(reserving capacity: Int = 4096) {
        self.bytes.reserveCapacity(capacity)
        self.frames.reserveCapacity(16)
    }

    public var count: Int { self.bytes.count }
    /// Octets since the last line end.
    public var column: Int { self.bytes.count - self.lineStart }
    /// How deep a new member is indented, in levels.
    public var depth: Int { self.baseDepth + self.frames.count }

    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try self.bytes.withUnsafeBytes(body)
    }

    /// Forgets the text and keeps the room.
    public mutating func removeAll(baseDepth: Int = 0) {
        self.bytes.removeAll(keepingCapacity: true)
        self.frames.removeAll(keepingCapacity: true)
        self.baseDepth = baseDepth
        self.lineStart = 0
    }

    /// A place to come back to; good for values alone, since it does not remember open containers.
    struct Mark {
        var count: Int
        var lineStart: Int
    }

    var mark: Mark { Mark(count: self.bytes.count, lineStart: self.lineStart) }

    /// Forgets everything written behind a mark.
    mutating func rewind(to mark: Mark) {
        self.bytes.removeLast(self.bytes.count - mark.count)
        self.lineStart = mark.lineStart
    }

    // MARK: Structure

    public mutating func beginObject(_ layout: Layout) { self.begin(UInt8(ascii: "{"), layout) }
    public mutating func beginArray(_ layout: Layout) { self.begin(UInt8(ascii: "["), layout) }

    private mutating func begin(_ bracket: UInt8, _ layout: Layout) {
        self.bytes.append(bracket)
        let isInline = layout == .inline || (self.frames.last?.isInline ?? false)
        self.frames.append(Frame(isInline: isInline))
    }

    public mutating func endObject() {
        guard let frame = self.frames.popLast() else { return }
        if !frame.isEmpty {
            if frame.isInline { self.bytes.append(UInt8(ascii: " ")) } else { self.newline(depth: self.depth) }
        }
        self.bytes.append(UInt8(ascii: "}"))
    }

    public mutating func endArray() {
        guard let frame = self.frames.popLast() else { return }
        if !frame.isEmpty, !frame.isInline { self.newline(depth: self.depth) }
        self.bytes.append(UInt8(ascii: "]"))
    }

    /// Begins a member with a name that needs no escapes.
    public mutating func member(_ name: StaticString) {
        self.separate(isMember: true)
        self.bytes.append(UInt8(ascii: "\""))
        self.bytes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        self.raw("\": ")
    }

    public mutating func member(named name: String) {
        self.separate(isMember: true)
        self.string(name)
        self.raw(": ")
    }

    /// Begins an array's element.
    public mutating func element() { self.separate(isMember: false) }

    private mutating func separate(isMember: Bool) {
        guard let last = self.frames.indices.last else { return }
        let frame = self.frames[last]
        self.frames[last].isEmpty = false
        if !frame.isEmpty { self.bytes.append(UInt8(ascii: ",")) }
        if !frame.isInline {
            self.newline(depth: self.depth)
        } else if isMember || !frame.isEmpty {
            self.bytes.append(UInt8(ascii: " "))
        }
    }

    private static let spaces: StaticString = "                                                                "

    public mutating func newline(depth: Int) {
        self.bytes.append(10)
        self.lineStart = self.bytes.count
        self.indent(depth: depth)
    }

    public mutating func indent(depth: Int) {
        var rest = depth * 2
        while rest > 0 {
            let part = min(rest, Self.spaces.utf8CodeUnitCount)
            self.bytes.append(contentsOf: UnsafeBufferPointer(start: Self.spaces.utf8Start, count: part))
            rest -= part
        }
    }

    // MARK: Values

    /// Text that is JSON already, without a line end in it.
    public mutating func raw(_ text: StaticString) {
        self.bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    public mutating func raw(_ text: UnsafeRawBufferPointer) { self.bytes.append(contentsOf: text) }
    public mutating func raw(_ text: [UInt8]) { self.bytes.append(contentsOf: text) }

    mutating func byte(_ byte: UInt8) { self.bytes.append(byte) }

    public mutating func bool(_ value: Bool) { self.raw(value ? "true" : "false") }

    public mutating func string(_ text: String) {
        var text = text
        text.withUTF8 { self.string(utf8: UnsafeRawBufferPointer($0)) }
    }

    /// A string of bytes that the caller knows to be UTF-8.
    public mutating func string(utf8 text: UnsafeRawBufferPointer) {
        self.bytes.append(UInt8(ascii: "\""))
        self.stringPiece(utf8: text)
        self.bytes.append(UInt8(ascii: "\""))
    }

    /// A piece of a string whose quotes the caller writes.
    mutating func stringPiece(utf8 text: UnsafeRawBufferPointer) {
        var start = 0
        while start < text.count {
            let stop = ByteScan.endOfPlain(text, from: start, stopAtDelete: true)
            if stop > start { self.bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: text[start..<stop])) }
            guard stop < text.count else { return }
            self.escape(text[stop])
            start = stop + 1
        }
    }

    /// A string in which each octet stands for the character of the same number (ISO 8859-1).
    public mutating func string(latin1 octets: UnsafeRawBufferPointer) {
        self.bytes.append(UInt8(ascii: "\""))
        for octet in octets {
            switch octet {
            case 0x80...: 
                self.bytes.append(0xC0 | octet >> 6)
                self.bytes.append(0x80 | octet & 0x3F)
            case ..<0x20, UInt8(ascii: "\""), UInt8(ascii: "\\"), 0x7F: self.escape(octet)
            default: self.bytes.append(octet)
            }
        }
        self.bytes.append(UInt8(ascii: "\""))
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
            self.bytes.append(Hex.digit(byte >> 4))
            self.bytes.append(Hex.digit(byte & 15))
        }
    }

    public mutating func integer(_ value: Int) {
        if value < 0 { self.bytes.append(UInt8(ascii: "-")) }
        self.digits(UInt64(value.magnitude))
    }

    /// A number with at most three decimals and no exponent; anything that is not finite is written as 0.
    public mutating func milliseconds(_ value: Double) {
        guard value.isFinite else { return self.bytes.append(UInt8(ascii: "0")) }
        // 2^62 thousandths are 146,000 years.
        let thousandths = min((value.magnitude * 1000).rounded(), 0x1p62)
        let scaled = UInt64(thousandths)
        if value < 0, scaled > 0 { self.bytes.append(UInt8(ascii: "-")) }
        self.digits(scaled / 1000)
        let fraction = UInt8(truncatingIfNeeded: scaled % 1000 / 10)
        let last = UInt8(truncatingIfNeeded: scaled % 10)
        guard fraction > 0 || last > 0 else { return }
        self.bytes.append(UInt8(ascii: "."))
        self.bytes.append(48 + fraction / 10)
        guard fraction % 10 > 0 || last > 0 else { return }
        self.bytes.append(48 + fraction % 10)
        if last > 0 { self.bytes.append(48 + last) }
    }

    private mutating func digits(_ value: UInt64) {
        if value < 10 { return self.bytes.append(48 + UInt8(truncatingIfNeeded: value)) }
        var power: UInt64 = 10
        while power <= value / 10 { power *= 10 }
        var rest = value
        while power > 0 {
            self.bytes.append(48 + UInt8(truncatingIfNeeded: rest / power))
            rest %= power
            power /= 10
        }
    }
}
