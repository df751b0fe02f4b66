internal import TapeBytes

/// A reader for a binary format in which each value contains only its own length, so that a string can be replaced in place.
protocol ValueTree {
    var bytes: UnsafeRawBufferPointer { get }
    /// The edits found so far.
    var found: [Edit] { get set }

    /// Whether the type declares several values.
    var isSequence: Bool { get }

    /// The end of the value that begins at an offset; nil if the bytes are something else.
    mutating func value(at offset: Int, _ place: TreeRedaction.Place, depth: Int, _ redaction: inout TreeRedaction) -> Int?
}

extension ValueTree {
    var isSequence: Bool { false }

    /// The edits of one value, or of several consecutive ones. Nil if the bytes are something else.
    ///
    /// - Parameter start: the offset after the format's own header.
    func edits(_ redaction: inout TreeRedaction, from start: Int = 0) -> [Edit]? {
        var reading = self
        var offset = start
        var index = 0
        while offset < self.bytes.count {
            let place = redaction.value(index, isOnly: !self.isSequence)
            guard let end = reading.value(at: offset, place, depth: 0, &redaction) else { return nil }
            (offset, index) = (end, index + 1)
        }
        return reading.found
    }

    /// A big-endian unsigned number of this size; nil if it is incomplete or too large.
    func number(_ offset: Int, _ size: Int) -> Int? {
        guard offset >= 0, size <= self.bytes.count - offset else { return nil }
        var value: UInt64 = 0
        for index in offset..<offset + size { value = value << 8 | UInt64(self.bytes[index]) }
        return Int(exactly: value)
    }

    /// The end of this many bytes; nil if they are incomplete.
    func end(_ offset: Int, _ count: Int) -> Int? {
        offset <= self.bytes.count && count >= 0 && count <= self.bytes.count - offset ? offset + count : nil
    }

    func slice(_ range: Range<Int>) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: self.bytes[range]) }

    /// A big-endian number of this size.
    static func spelled(_ number: Int, _ size: Int) -> [UInt8] {
        (0..<size).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
}
