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

    /// The text is the first `count` octets; the rest is room.
    private var storage: [UInt8]
    public private(set) var count = 0
    private var lineStart = 0
    /// Levels of containers around the text itself.
    private var baseDepth = 0
    /// How many containers are open, and one bit for each: the innermost is the lowest.
    private var openCount = 0
    private var inlineBits: UInt64 = 0
    private var filledBits: UInt64 = 0

    public init(reserving capacity: Int = 4096) {
        self.storage = Array(repeating: 0, count: max(capacity, 64))
    }

    /// A copy of the text; `withUnsafeBytes` makes none.
    public var bytes: [UInt8] { Array(self.storage[..<self.count]) }
    /// Octets since the last line end.
    public var column: Int { self.count - self.lineStart }
    /// How deep a new member is indented, in levels.
    public var depth: Int { self.baseDepth + self.openCount }

    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try self.storage.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[..<self.count])) }
    }

    /// Forgets the text and keeps the room.
    public mutating func removeAll(baseDepth: Int = 0) {
        self.count = 0
        self.beginFragment(baseDepth: baseDepth)
    }

    /// Forgets the text and stays within the open containers, once what is written was handed on.
    package mutating func drain() {
        self.count = 0
        self.lineStart = 0
    }

    /// Starts a text at a given depth behind what is there already.
    package mutating func beginFragment(baseDepth: Int) {
        self.openCount = 0
        self.inlineBits = 0
        self.filledBits = 0
        self.baseDepth = baseDepth
        self.lineStart = self.count
    }

    /// A place to come back to; good for values alone, since it does not remember open containers.
    package struct Mark {
        var count: Int
        var lineStart: Int
    }

    package var mark: Mark { Mark(count: self.count, lineStart: self.lineStart) }

    /// Forgets everything written behind a mark.
    package mutating func rewind(to mark: Mark) {
        self.count = mark.count
        self.lineStart = mark.lineStart
    }

    // MARK: Room

    @inline(__always)
    private mutating func reserve(_ more: Int) {
        if self.storage.count - self.count < more { self.grow(more) }
    }

    @inline(never)
    private mutating func grow(_ more: Int) {
        self.storage.append(contentsOf: repeatElement(0, count: max(more, self.storage.count)))
    }

    /// Lets `write` fill up to `most` octets behind the text and say how many it did.
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
        let isInline = layout == .inline || self.inlineBits & 1 == 1
        self.inlineBits = self.inlineBits << 1 | (isInline ? 1 : 0)
        self.filledBits <<= 1
        self.openCount += 1
    }

    public mutating func endObject() { self.end(UInt8(ascii: "}"), isPadded: true) }
    public mutating func endArray() { self.end(UInt8(ascii: "]"), isPadded: false) }

    private mutating func end(_ bracket: UInt8, isPadded: Bool) {
        let isInline = self.inlineBits & 1 == 1
        let isFilled = self.filledBits & 1 == 1
        self.inlineBits >>= 1
        self.filledBits >>= 1
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

    /// Begins an array's element.
    public mutating func element() { self.separate(isMember: false) }

    private mutating func separate(isMember: Bool) {
        let isFilled = self.filledBits & 1 == 1
        self.filledBits |= 1
        if isFilled { self.byte(UInt8(ascii: ",")) }
        if self.inlineBits & 1 == 0 {
            self.newline(depth: self.depth)
        } else if isMember || isFilled {
            self.byte(UInt8(ascii: " "))
        }
    }

    public mutating func newline(depth: Int) {
        self.byte(10)
        self.lineStart = self.count
        self.indent(depth: depth)
    }

    public mutating func indent(depth: Int) {
        self.append(atMost: depth * 2) { room in
            for index in 0..<room.count { room[index] = 32 }
            return room.count
        }
    }
}
