internal import CassetteModel

/// Counts the literals and matches in the first block of a deflate stream (RFC 1951, 3.2).
///
/// zlib ends a block when its buffer for them is full, and the memory level determines the size of the buffer. A first block of any other
/// length was not written by zlib at that level. Does not decode content.
struct FirstDeflateBlock {
    private let count: Int
    /// Whether another block follows, and only a full buffer can have ended this one.
    private let isFull: Bool

    /// The most literals and matches in a zlib block: at the highest memory level.
    private static let limit = 1 << 15

    /// Nil for a stored block, and for bytes that are cut or broken, from which nothing follows.
    ///
    /// - Parameter hasFlushes: whether the compressor was flushed anywhere, which also ends a block.
    init?(_ stream: UnsafeRawBufferPointer, hasFlushes: Bool) {
        var bits = Bits(bytes: stream)
        guard let isLast = bits.take(1), let type = bits.take(2),
            let (literals, distances) = Self.codes(type, &bits)
        else { return nil }
        var count = 0
        while count <= Self.limit {
            guard let symbol = literals.decode(&bits) else { return nil }
            if symbol == 256 {
                (self.count, self.isFull) = (count, isLast == 0 && !hasFlushes)
                return
            }
            count += 1
            guard symbol > 256 else { continue }
            // Extra bits of the length and of the distance (3.2.5).
            let length = symbol - 257
            guard length < 29, bits.take(length < 8 || length == 28 ? 0 : length / 4 - 1) != nil,
                let distance = distances.decode(&bits),
                distance < 30, bits.take(distance < 2 ? 0 : distance / 2 - 1) != nil
            else { return nil }
        }
        (self.count, self.isFull) = (count, true)
    }

    /// Whether zlib can have written the block at this memory level.
    func mayHave(memoryLevel: Int) -> Bool {
        let most = 1 << (memoryLevel + 6) - 1
        return self.isFull ? self.count == most : self.count <= most
    }

    /// Nil for a stored block.
    private static func codes(_ type: Int, _ bits: inout Bits) -> (literals: Code, distances: Code)? {
        switch type {
        case 1:
            let lengths = (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 }
            return (Code(lengths[...]), Code(Array(repeating: 5, count: 30)[...]))
        case 2:
            guard let literals = bits.take(5), let distances = bits.take(5), let count = bits.take(4)
            else { return nil }
            var own = [Int](repeating: 0, count: 19)
            for place in [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15].prefix(
                count + 4)
            {
                guard let length = bits.take(3) else { return nil }
                own[place] = length
            }
            let code = Code(own[...])
            var lengths: [Int] = []
            let size = literals + 257 + distances + 1
            while lengths.count < size {
                guard let symbol = code.decode(&bits) else { return nil }
                let (extra, least) = symbol == 16 ? (2, 3) : symbol == 17 ? (3, 3) : (7, 11)
                if symbol < 16 {
                    lengths.append(symbol)
                } else if let more = bits.take(extra), let value = symbol == 16 ? lengths.last : 0 {
                    lengths += Array(repeating: value, count: least + more)
                } else {
                    return nil
                }
            }
            guard lengths.count == size else { return nil }
            return (Code(lengths[..<(literals + 257)]), Code(lengths[(literals + 257)...]))
        default: return nil
        }
    }

    /// Reads the lowest bits first.
    private struct Bits {
        let bytes: UnsafeRawBufferPointer
        private var offset = 0
        private var held = 0
        private var count = 0

        init(bytes: UnsafeRawBufferPointer) {
            self.bytes = bytes
        }

        mutating func take(_ count: Int) -> Int? {
            while self.count < count {
                guard self.offset < self.bytes.count else { return nil }
                self.held |= Int(self.bytes[self.offset]) << self.count
                self.offset += 1
                self.count += 8
            }
            let value = self.held & (1 << count - 1)
            self.held >>= count
            self.count -= count
            return value
        }
    }

    /// A canonical Huffman code (3.2.2) of at most 15 bits per symbol.
    private struct Code {
        private var counts = [Int](repeating: 0, count: 16)
        private var symbols: [Int]

        init(_ lengths: ArraySlice<Int>) {
            self.symbols = [Int](repeating: 0, count: lengths.count)
            for length in lengths { self.counts[length] += 1 }
            var offsets = [Int](repeating: 0, count: 17)
            for length in 1..<16 { offsets[length + 1] = offsets[length] + self.counts[length] }
            for (symbol, length) in lengths.enumerated() where length > 0 {
                self.symbols[offsets[length]] = symbol
                offsets[length] += 1
            }
        }

        /// Nil at the end of the bytes, and for bits that are not a symbol.
        func decode(_ bits: inout Bits) -> Int? {
            var (code, first, index) = (0, 0, 0)
            for length in 1..<16 {
                guard let bit = bits.take(1) else { return nil }
                code |= bit
                let count = self.counts[length]
                if code - count < first {
                    return index + code - first < self.symbols.count
                        ? self.symbols[index + code - first] : nil
                }
                index += count
                first = (first + count) << 1
                code <<= 1
            }
            return nil
        }
    }
}
