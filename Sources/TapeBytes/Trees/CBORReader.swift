/// Reads the heads and strings of CBOR (RFC 8949, 3) in untrusted bytes.
///
/// Finds where values begin and how long they are, not what they mean. The caller walks the tree and asks for one head after another.
package struct CBORReader {
    /// The initial byte with its argument.
    package struct Head {
        /// 0 and 1 are integers, 2 bytes, 3 text, 4 an array, 5 a map, 6 a tag, 7 floats and simple values.
        package let major: UInt8
        package let info: UInt8
        /// Nil for an indefinite length.
        package let argument: UInt64?
        package let end: Int

        /// The decimal digits of an integer. A negative integer is -1 minus its argument.
        package var digits: String {
            let argument = self.argument ?? 0
            guard self.major == 1 else { return "\(argument)" }
            return argument == .max ? "-18446744073709551616" : "-\(argument + 1)"
        }

        /// The argument as a length; nil for an indefinite length, and for one that exceeds `Int`.
        package var count: Int? { self.argument.flatMap { Int(exactly: $0) } }
    }

    package let bytes: UnsafeRawBufferPointer

    package init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// Nil if the bytes end before the head does, or are not the start of a head.
    package func head(at offset: Int) -> Head? {
        guard offset < self.bytes.count else { return nil }
        let (major, info) = (self.bytes[offset] >> 5, self.bytes[offset] & 31)
        switch info {
        case 0..<24: return Head(major: major, info: info, argument: UInt64(info), end: offset + 1)
        case 24...27:
            let size = 1 << Int(info - 24)
            guard size <= self.bytes.count - offset - 1 else { return nil }
            let argument = self.bytes[offset + 1..<offset + 1 + size].reduce(0) { $0 << 8 | UInt64($1) }
            return Head(major: major, info: info, argument: argument, end: offset + 1 + size)
        case 31 where (2...5).contains(major):
            return Head(major: major, info: info, argument: nil, end: offset + 1)
        case _: return nil
        }
    }

    /// Whether the break that ends an indefinite length is at this offset.
    package func isBreak(at offset: Int) -> Bool {
        offset < self.bytes.count && self.bytes[offset] == 0xFF
    }

    /// The pieces of a string, and its end: one piece, or definite chunks up to a break (3.2.3). Nil if the string is incomplete.
    package func chunks(of head: Head) -> (chunks: [Range<Int>], end: Int)? {
        guard head.argument == nil else {
            guard let count = head.count, count <= self.bytes.count - head.end else { return nil }
            return ([head.end..<head.end + count], head.end + count)
        }
        var chunks: [Range<Int>] = []
        var offset = head.end
        while !self.isBreak(at: offset) {
            guard let chunk = self.head(at: offset), chunk.major == head.major, let count = chunk.count,
                count <= self.bytes.count - chunk.end
            else { return nil }
            chunks.append(chunk.end..<chunk.end + count)
            offset = chunk.end + count
        }
        return (chunks, offset + 1)
    }

    /// The concatenated bytes of chunks.
    package func joined(_ chunks: [Range<Int>]) -> [UInt8] {
        chunks.reduce(into: []) { $0 += self.bytes[$1] }
    }
}
