internal import TapeBytes

/// A reader of a binary format in which each value says its own length only, so that a string can be replaced where it stands.
protocol ValueTree {
    var bytes: UnsafeRawBufferPointer { get }
    /// What is to be replaced.
    var found: [Edit] { get set }

    /// Whether the type says that there are several values.
    var isSequence: Bool { get }

    /// Where the value ends that begins at an offset; nil if the bytes are something else.
    mutating func value(at offset: Int, _ place: TreeRedaction.Place, depth: Int, _ redaction: inout TreeRedaction) -> Int?
}

extension ValueTree {
    var isSequence: Bool { false }

    /// The edits of one value, or of several one after the other. Nil if the bytes are something else.
    ///
    /// - Parameter start: after the format's own header.
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

    /// An unsigned number of so many bytes, the highest first; nil if it is not all there, or too large.
    func number(_ offset: Int, _ size: Int) -> Int? {
        guard offset >= 0, size <= self.bytes.count - offset else { return nil }
        var value: UInt64 = 0
        for index in offset..<offset + size { value = value << 8 | UInt64(self.bytes[index]) }
        return Int(exactly: value)
    }

    /// Where so many bytes end; nil if they are not all there.
    func end(_ offset: Int, _ count: Int) -> Int? {
        offset <= self.bytes.count && count >= 0 && count <= self.bytes.count - offset ? offset + count : nil
    }

    func slice(_ range: Range<Int>) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: self.bytes[range]) }

    /// A number in so many bytes, the highest first.
    static func spelled(_ number: Int, _ size: Int) -> [UInt8] {
        (0..<size).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
}
