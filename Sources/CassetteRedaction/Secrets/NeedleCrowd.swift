internal import CassetteModel

/// Needles that a `NeedleTable` could only distinguish one by one, because each of their blocks is shared with many others: secrets that
/// are prefixes of each other, or that differ in a few bytes.
///
/// They are grouped by their first bytes, and sorted bytewise within a group, so that those at one position of a text are found by binary
/// search. The work for a position grows with the logarithm of their number. Does not hold the bytes of needles, which the caller supplies.
struct NeedleCrowd: Sendable {
    fileprivate struct Member: Sendable {
        let needle: Int32
        /// How many bytes are compared.
        let length: Int32
        /// How many bytes it shares with the member before it.
        var common: Int32 = 0
        /// The longest earlier member that is a prefix of it, or -1.
        var parent: Int32 = -1
    }

    /// Needles with the same first bytes.
    fileprivate struct Group: Sendable {
        var members: [Member] = []
        /// Members that are not sorted in yet.
        var new: [Member] = []
    }

    /// How many first bytes the members of a group share: all of the shortest needle.
    private static let keyLength = NeedleIndex.lengthLimit
    /// Up to this many new members are inserted one by one; more are sorted together with all others.
    private static let singlesLimit = 8
    /// Uses a new seed in each process, so that nobody can construct collisions.
    private static let factor = UInt64.random(in: .min ... .max) | 1
    private static let filterShift: UInt64 = 64 - 15

    private var numbers: [UInt64: Int] = [:]
    private var groups: [Group] = []
    private var changed: Set<Int> = []
    /// A bit set of hashes of first bytes, which rules out most positions of a text at once.
    private var filter: [UInt64] = []

    var isEmpty: Bool { self.groups.isEmpty }

    @inline(__always)
    private static func key(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        UInt64(bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) << 16
            | UInt64(bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt16.self))
    }

    /// Adds a needle, which is found after the next `sort`.
    ///
    /// - Parameter bytes: the needle's bytes that are compared: at least `NeedleIndex.lengthLimit`.
    mutating func insert(_ needle: Int32, _ bytes: UnsafeRawBufferPointer) {
        let key = Self.key(bytes, 0)
        let number = self.numbers[key] ?? self.groups.count
        if number == self.groups.count {
            self.groups.append(Group())
            self.numbers[key] = number
            if self.filter.isEmpty { self.filter = Array(repeating: 0, count: 1 << 9) }
            let bit = (key &* Self.factor) >> Self.filterShift
            self.filter[Int(bit >> 6)] |= 1 << (bit & 63)
        }
        self.groups[number].new.append(Member(needle: needle, length: Int32(bytes.count)))
        self.changed.insert(number)
    }

    /// Sorts in the new members.
    mutating func sort(_ needle: (Int32) -> Needle) {
        for number in self.changed { self.groups[number].sort(singlesLimit: Self.singlesLimit, needle) }
        self.changed.removeAll()
    }

    /// Searches for the longest needle at each position that is not covered by an earlier match.
    ///
    /// - Parameters:
    ///   - end: returns the end of a needle whose bytes are at this offset; nil if it does not match there.
    ///   - found: receives the matches.
    func search(
        _ text: UnsafeRawBufferPointer, needle: (Int32) -> Needle, end: (_ needle: Int32, _ start: Int) -> Int?,
        found: (_ needle: Int32, _ range: Range<Int>) -> Void
    ) {
        guard !self.isEmpty, text.count >= Self.keyLength else { return }
        var offset = 0
        while offset <= text.count - Self.keyLength {
            let key = Self.key(text, offset)
            let bit = (key &* Self.factor) >> Self.filterShift
            guard self.filter[Int(bit >> 6)] >> (bit & 63) & 1 == 1, let number = self.numbers[key],
                let longest = self.groups[number].longest(in: text, at: offset, needle, end)
            else {
                offset += 1
                continue
            }
            found(longest.needle, offset..<longest.end)
            offset = max(longest.end, offset + 1)
        }
    }
}

fileprivate extension NeedleCrowd.Group {
    mutating func sort(singlesLimit: Int, _ needle: (Int32) -> Needle) {
        if self.new.count <= singlesLimit {
            for member in self.new {
                let bytes = needle(member.needle)
                var (low, high) = (0, self.members.count)
                while low < high {
                    let middle = (low + high) / 2
                    if Self.isOrdered(self.members[middle], needle(self.members[middle].needle), member, bytes) {
                        low = middle + 1
                    } else {
                        high = middle
                    }
                }
                self.members.insert(member, at: low)
                for position in [low, low + 1] where position < self.members.count { self.measure(position, needle) }
            }
        } else {
            self.members += self.new
            self.members.sort { !Self.isOrdered($1, needle($1.needle), $0, needle($0.needle)) }
            for position in self.members.indices { self.measure(position, needle) }
        }
        self.new = []
        self.link()
    }

    /// Whether the first does not sort after the second.
    private static func isOrdered(_ one: NeedleCrowd.Member, _ oneBytes: Needle, _ other: NeedleCrowd.Member, _ otherBytes: Needle) -> Bool
    {
        let common = Self.common(one, oneBytes, other, otherBytes)
        if common == Int(one.length) { return true }
        return common < Int(other.length) && oneBytes[common] < otherBytes[common]
    }

    private static func common(_ one: NeedleCrowd.Member, _ oneBytes: Needle, _ other: NeedleCrowd.Member, _ otherBytes: Needle) -> Int {
        let limit = Int(min(one.length, other.length))
        var common = 0
        while common < limit, oneBytes[common] == otherBytes[common] { common += 1 }
        return common
    }

    private mutating func measure(_ position: Int, _ needle: (Int32) -> Needle) {
        guard position > 0 else {
            self.members[position].common = 0
            return
        }
        let (before, own) = (self.members[position - 1], self.members[position])
        self.members[position].common = Int32(Self.common(before, needle(before.needle), own, needle(own.needle)))
    }

    private mutating func link() {
        // A stack of members that are prefixes of the previous one, each longer than the one below it.
        var beginnings: [Int] = []
        for position in self.members.indices {
            while let last = beginnings.last, self.members[last].length > self.members[position].common { beginnings.removeLast() }
            self.members[position].parent = Int32(beginnings.last ?? -1)
            beginnings.append(position)
        }
    }

    /// The longest member at an offset, and its end.
    func longest(
        in text: UnsafeRawBufferPointer, at offset: Int, _ needle: (Int32) -> Needle, _ end: (_ needle: Int32, _ start: Int) -> Int?
    ) -> (needle: Int32, end: Int)? {
        // The last member that does not sort after the text: any match here is this member or a prefix of it.
        var (low, high, common) = (0, self.members.count, 0)
        while low < high {
            let middle = (low + high) / 2
            let member = self.members[middle]
            let bytes = needle(member.needle)
            let limit = min(Int(member.length), text.count - offset)
            var length = 0
            while length < limit, bytes[length] == text[offset + length] { length += 1 }
            if length == Int(member.length) || length < limit && bytes[length] < text[offset + length] {
                (low, common) = (middle + 1, length)
            } else {
                high = middle
            }
        }
        var position = low - 1
        var found: (needle: Int32, end: Int, length: Int32)?
        while position >= 0 {
            let member = self.members[position]
            // Of members with equal compared bytes, one may match further than the others.
            if let found, member.length < found.length { break }
            if Int(member.length) <= common, let end = end(member.needle, offset), end > found?.end ?? 0 {
                found = (member.needle, end, member.length)
            }
            position = Int(member.parent)
        }
        return found.map { ($0.needle, $0.end) }
    }
}
