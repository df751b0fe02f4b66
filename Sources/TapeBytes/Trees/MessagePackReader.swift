/// Reads the values of MessagePack (https://github.com/msgpack/msgpack/blob/master/spec.md) in untrusted bytes.
///
/// Reads only the heads of arrays and maps. The caller walks the tree and asks for one value after another.
package struct MessagePackReader {
    package enum Value {
        case null
        case bool(Bool)
        case unsigned(UInt64)
        case signed(Int64)
        case float(Double)
        case text(Range<Int>)
        case bytes(Range<Int>)
        case `extension`(type: Int8, Range<Int>)
        /// The number of values.
        case array(Int)
        /// The number of names, each followed by a value.
        case map(Int)
    }

    package let bytes: UnsafeRawBufferPointer

    package init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// The value at an offset, and the end of the value or of its head. Nil if it is incomplete, or the byte does not begin a value.
    package func value(at offset: Int) -> (value: Value, end: Int)? {
        guard offset < self.bytes.count else { return nil }
        let marker = self.bytes[offset]
        let start = offset + 1
        switch marker {
        case 0x00...0x7F: return (.unsigned(UInt64(marker)), start)
        case 0xE0...0xFF: return (.signed(Int64(Int8(bitPattern: marker))), start)
        case 0x80...0x8F: return self.map(Int(marker & 15), start)
        case 0x90...0x9F: return self.array(Int(marker & 15), start)
        case 0xA0...0xBF: return self.range(start, Int(marker & 31)).map { (.text($0), $0.upperBound) }
        case 0xC0: return (.null, start)
        case 0xC2, 0xC3: return (.bool(marker == 0xC3), start)
        case 0xC4, 0xC5, 0xC6:
            return self.counted(start, 1 << Int(marker - 0xC4)).map { (.bytes($0), $0.upperBound) }
        case 0xD9, 0xDA, 0xDB:
            return self.counted(start, 1 << Int(marker - 0xD9)).map { (.text($0), $0.upperBound) }
        case 0xC7, 0xC8, 0xC9:
            let size = 1 << Int(marker - 0xC7)
            return self.number(start, size).flatMap { Int(exactly: $0) }.flatMap {
                self.extension(start + size, $0)
            }
        case 0xD4...0xD8: return self.extension(start, 1 << Int(marker - 0xD4))
        case 0xCA:
            return self.number(start, 4).map {
                (.float(Double(Float(bitPattern: UInt32(truncatingIfNeeded: $0)))), start + 4)
            }
        case 0xCB: return self.number(start, 8).map { (.float(Double(bitPattern: $0)), start + 8) }
        case 0xCC...0xCF:
            let size = 1 << Int(marker - 0xCC)
            return self.number(start, size).map { (.unsigned($0), start + size) }
        case 0xD0...0xD3:
            let size = 1 << Int(marker - 0xD0)
            let shift = UInt64(64 - 8 * size)
            return self.number(start, size).map {
                (.signed(Int64(bitPattern: $0 << shift) >> Int64(shift)), start + size)
            }
        case 0xDC, 0xDD, 0xDE, 0xDF:
            let size = marker & 1 == 0 ? 2 : 4
            guard let count = self.number(start, size).flatMap({ Int(exactly: $0) }) else { return nil }
            return marker < 0xDE ? self.array(count, start + size) : self.map(count, start + size)
        // Never used.
        case _: return nil
        }
    }

    /// A length that exceeds the remaining bytes is rejected before anyone counts up to it.
    private func array(_ count: Int, _ end: Int) -> (value: Value, end: Int)? {
        count <= self.bytes.count - end ? (.array(count), end) : nil
    }

    private func map(_ count: Int, _ end: Int) -> (value: Value, end: Int)? {
        count <= (self.bytes.count - end) / 2 ? (.map(count), end) : nil
    }

    private func `extension`(_ start: Int, _ count: Int) -> (value: Value, end: Int)? {
        guard start < self.bytes.count, let range = self.range(start + 1, count) else { return nil }
        return (.extension(type: Int8(bitPattern: self.bytes[start]), range), range.upperBound)
    }

    private func counted(_ offset: Int, _ size: Int) -> Range<Int>? {
        self.number(offset, size).flatMap { Int(exactly: $0) }.flatMap { self.range(offset + size, $0) }
    }

    private func range(_ start: Int, _ count: Int) -> Range<Int>? {
        start <= self.bytes.count && count <= self.bytes.count - start ? start..<start + count : nil
    }

    /// A big-endian unsigned number of `size` bytes.
    private func number(_ offset: Int, _ size: Int) -> UInt64? {
        guard offset <= self.bytes.count, size <= self.bytes.count - offset else { return nil }
        return self.bytes[offset..<offset + size].reduce(0) { $0 << 8 | UInt64($1) }
    }
}
