/// Needles by the hash of a few of their octets, so that a text is looked at in strides.
///
/// Each needle has a window of `window` octets; at every offset in it where a block fits, the block is known here. A text that holds the
/// needle has one of the blocks at one of any offsets that are `stride` apart.
struct NeedleTable: Sendable {
    private struct Entry: Sendable {
        var key: UInt64
        var needle: Int32
        /// From the needle's beginning to the block.
        var offset: Int32
        var next: Int32
    }

    let window: Int
    let block: Int
    var stride: Int { self.window - self.block + 1 }

    /// Seeded anew in each process, so that nobody can choose octets that collide.
    private static let factor = UInt64.random(in: .min ... .max) | 1
    /// Needles with the same block that are told apart one by one before another window is tried.
    private static let chainLimit = 16

    /// Bits for hashes that are there: most blocks of a text are passed by after one look.
    private var filter: [UInt64]
    private var filterShift: UInt64
    private var heads: [Int32]
    private var headShift: UInt64
    private var entries: [Entry] = []

    init(window: Int, block: Int) {
        self.window = window
        self.block = block
        self.filterShift = 64 - 15
        self.filter = Array(repeating: 0, count: 1 << 9)
        self.headShift = 64 - 8
        self.heads = Array(repeating: -1, count: 1 << 8)
    }

    var isEmpty: Bool { self.entries.isEmpty }

    @inline(__always)
    private func key(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        self.block == 8
            ? bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            : UInt64(bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    /// Enters a needle of at least `window` octets.
    mutating func insert(_ needle: Int32, _ octets: UnsafeRawBufferPointer) {
        precondition(octets.count >= self.window)
        // Tokens of one kind begin alike and end in random octets.
        let last = octets.count - self.window
        var start = last
        for candidate in [last, last / 2, 0] where !self.isCrowded(octets, candidate) {
            start = candidate
            break
        }
        for offset in start..<start + self.stride {
            self.append(Entry(key: self.key(octets, offset), needle: needle, offset: Int32(offset), next: -1))
        }
    }

    private func isCrowded(_ octets: UnsafeRawBufferPointer, _ start: Int) -> Bool {
        (start..<start + self.stride).contains { offset in
            let key = self.key(octets, offset)
            var count = 0
            var entry = self.heads[Int((key &* Self.factor) >> self.headShift)]
            while entry >= 0, count < Self.chainLimit {
                if self.entries[Int(entry)].key == key { count += 1 }
                entry = self.entries[Int(entry)].next
            }
            return count >= Self.chainLimit
        }
    }

    private mutating func append(_ entry: Entry) {
        if self.entries.count >= self.heads.count { self.grow() }
        self.entries.append(entry)
        self.link(self.entries.count - 1)
    }

    private mutating func link(_ index: Int) {
        let hash = self.entries[index].key &* Self.factor
        let bit = hash >> self.filterShift
        self.filter[Int(bit >> 6)] |= 1 << (bit & 63)
        let head = Int(hash >> self.headShift)
        self.entries[index].next = self.heads[head]
        self.heads[head] = Int32(index)
    }

    private mutating func grow() {
        self.headShift -= 1
        self.heads = Array(repeating: -1, count: self.heads.count * 2)
        if self.heads.count << 4 > self.filter.count << 6 {
            self.filterShift -= 1
            self.filter = Array(repeating: 0, count: self.filter.count * 2)
        } else {
            self.filter = Array(repeating: 0, count: self.filter.count)
        }
        for index in self.entries.indices { self.link(index) }
    }

    /// Looks at each block of the text that may be one of a needle.
    ///
    /// - Parameter check: whether the needle that would start at an offset (which may be negative) is there; answers its end.
    func search(_ text: UnsafeRawBufferPointer, check: (_ needle: Int32, _ start: Int) -> Int?) {
        guard !self.isEmpty, text.count >= self.window else { return }
        let (stride, last) = (self.stride, text.count - self.block)
        let (filterShift, factor) = (self.filterShift, Self.factor)
        self.filter.withUnsafeBufferPointer { filter in
            var offset = 0
            // SAFETY: a shifted hash has as many bits as `filter`; a block at `last` still lies in the text.
            while offset <= last {
                let key = self.key(text, offset)
                let bit = (key &* factor) >> filterShift
                if filter[Int(truncatingIfNeeded: bit >> 6)] >> (bit & 63) & 1 == 1, let end = self.look(key, offset, check) {
                    // What begins within what was found is part of it.
                    offset = max(end, offset + 1)
                } else {
                    offset += stride
                }
            }
        }
    }

    private func look(_ key: UInt64, _ offset: Int, _ check: (_ needle: Int32, _ start: Int) -> Int?) -> Int? {
        var end: Int?
        var entry = self.heads[Int((key &* Self.factor) >> self.headShift)]
        while entry >= 0 {
            let candidate = self.entries[Int(entry)]
            if candidate.key == key, let found = check(candidate.needle, offset - Int(candidate.offset)) {
                end = max(end ?? found, found)
            }
            entry = candidate.next
        }
        return end
    }
}
