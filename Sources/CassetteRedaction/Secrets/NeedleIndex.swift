internal import CassetteModel
internal import Platform

/// All spellings of some secrets, found in one pass over a text.
///
/// Needles are bytes; escapes are removed from the text before (see `EscapeView`). The secrets of a run are in several indexes: see
/// `NeedleLayers`.
struct NeedleIndex: Sendable {
    struct Hit: Sendable, Hashable {
        var range: Range<Int>
        var secret: Int
        var form: Needle.Form
    }

    /// The shortest needle, in bytes. Six bytes determine seven characters of base64.
    static let lengthLimit = 6
    /// How many bytes of a long needle are compared before it counts as found, so that no text can make each of its bytes cost more.
    static let compareLimit = 1024
    /// How many needles are found in strides of nine bytes, which takes nine times the entries. Further ones are searched byte by byte.
    private let strideLimit: Int

    /// A secret, or a part of one, in the form in which it is searched for.
    struct Text: Sendable {
        var start: UInt32
        var count: UInt32
        /// The secret's number in the vault.
        var secret: Int32
        /// Whether a letter or digit next to it makes it a different word.
        var standsAlone: Bool
        /// Whether it is an alternative spelling of a secret, for which no further spellings are searched.
        var isSpelling: Bool
    }

    private var bytes: [UInt8] = []
    private(set) var texts: [Text] = []
    private var short = NeedleTable(window: 6, block: 4)
    private var long = NeedleTable(window: 16, block: 8)
    private var many = NeedleTable(window: 8, block: 8)
    private var crowd = NeedleCrowd()
    private var ends = NeedleEnds()

    init(strideLimit: Int = 1024) { self.strideLimit = strideLimit }

    var isEmpty: Bool { self.texts.isEmpty }

    /// Adds the spellings of a secret that views of a text do not unify. Returns whether there is room for them.
    mutating func insert(_ secret: [UInt8], as number: Int, standsAlone: Bool) -> Bool {
        guard secret.count >= Self.lengthLimit else { return true }
        guard self.bytes.count + 3 * secret.count <= Int(UInt32.max) else { return false }
        self.insert(secret, number, standsAlone, isSpelling: false)
        let canonical = EscapeView.canonical(secret)
        if canonical != secret, canonical.count >= Self.lengthLimit { self.insert(canonical, number, standsAlone, isSpelling: true) }
        if secret.contains(32) {
            // The plus sign in forms.
            self.insert(secret.map { $0 == 32 ? UInt8(ascii: "+") : $0 }, number, standsAlone, isSpelling: true)
        }
        self.sortCrowd()
        return true
    }

    /// Adds a further spelling of a secret, which is found only as it is.
    mutating func insert(spelling: [UInt8], as number: Int) {
        guard spelling.count >= Self.lengthLimit, self.bytes.count + spelling.count <= Int(UInt32.max) else { return }
        self.insert(spelling, number, false, isSpelling: true)
        self.sortCrowd()
    }

    /// Adds everything in another index.
    mutating func insert(contentsOf other: NeedleIndex) {
        for text in other.texts {
            let start = Int(text.start)
            let secret = Array(other.bytes[start..<start + Int(text.count)])
            self.insert(secret, Int(text.secret), text.standsAlone, isSpelling: text.isSpelling)
        }
        self.sortCrowd()
    }

    private mutating func sortCrowd() {
        var crowd = NeedleCrowd()
        swap(&crowd, &self.crowd)
        self.bytes.withUnsafeBytes { bytes in crowd.sort { self.needle($0, bytes) } }
        swap(&crowd, &self.crowd)
    }

    private static let wordSpellings: [Needle.Spelling] = [
        .plain, .base64, .base64After1, .base64After2, .urlSafe, .urlSafeAfter1, .urlSafeAfter2,
    ]

    private static func spellings(standsAlone: Bool, isSpelling: Bool) -> [Needle.Spelling] {
        guard !isSpelling else { return [.plain] }
        // The other spellings of a word would be found within other words.
        return standsAlone ? Self.wordSpellings : Needle.Spelling.allCases
    }

    /// The bytes with zeros between them.
    static func wide(_ bytes: [UInt8]) -> [UInt8] { Array(bytes.flatMap { [$0, 0] }.dropLast()) }

    private mutating func insert(_ secret: [UInt8], _ number: Int, _ standsAlone: Bool, isSpelling: Bool) {
        let index = self.texts.count
        self.texts.append(
            Text(
                start: UInt32(self.bytes.count), count: UInt32(secret.count), secret: Int32(number), standsAlone: standsAlone,
                isSpelling: isSpelling))
        self.bytes.append(contentsOf: secret)
        secret.withUnsafeBytes { bytes in
            self.ends.insert(bytes, index: index)
            for spelling in Self.spellings(standsAlone: standsAlone, isSpelling: isSpelling) {
                let needle = Needle(spelling, of: bytes)
                if self.isTheSame(needle) { continue }
                let compared = needle.prefix(Self.compareLimit)
                let reference = Int32(index << 4 | Int(spelling.rawValue))
                compared.withUnsafeBytes { compared in
                    let isEntered =
                        if compared.count >= self.long.window, index < self.strideLimit {
                            self.long.insert(reference, compared)
                        } else if compared.count >= self.many.window, index >= self.strideLimit {
                            self.many.insert(reference, compared)
                        } else {
                            self.short.insert(reference, compared)
                        }
                    if !isEntered { self.crowd.insert(reference, compared) }
                }
            }
        }
    }

    /// Whether a spelling equals an earlier one: base64 without `+` and `/`, or hex without letters.
    private func isTheSame(_ needle: Needle) -> Bool {
        let other: Needle.Spelling
        switch needle.spelling {
        case .urlSafe: other = .base64
        case .urlSafeAfter1: other = .base64After1
        case .urlSafeAfter2: other = .base64After2
        case .upperHex: other = .lowerHex
        case .plain, .base64, .base64After1, .base64After2, .lowerHex, .wide: return false
        }
        let first = Needle(other, of: needle.bytes)
        return (0..<needle.count).allSatisfy { needle[$0] == first[$0] }
    }

    /// Delivers all hits, in no particular order.
    func search(_ text: UnsafeRawBufferPointer, deliver: (Hit) -> Void) {
        self.bytes.withUnsafeBytes { bytes in
            func end(_ reference: Int32, _ start: Int) -> Int? {
                let needle = self.needle(reference, bytes)
                let isWord = self.texts[Int(reference >> 4)].standsAlone && needle.spelling == .plain
                return Self.end(of: needle, isWord, in: text, at: start)
            }
            func found(_ reference: Int32, _ range: Range<Int>) {
                let secret = Int(self.texts[Int(reference >> 4)].secret)
                deliver(Hit(range: range, secret: secret, form: self.needle(reference, bytes).form))
            }
            for table in [self.short, self.long, self.many] where !table.isEmpty {
                table.search(text, length: { min(self.needle($0, bytes).count, Self.compareLimit) }, end: end, found: found)
            }
            self.crowd.search(text, needle: { self.needle($0, bytes) }, end: end, found: found)
        }
    }

    /// The longest piece of a secret at a border of a text. `isCompared` is false if there are too many candidates.
    ///
    /// - Parameter atEnd: whether the text ends within a secret; otherwise it begins within one.
    func piece(in text: UnsafeRawBufferPointer, atEnd: Bool) -> (hit: Hit?, isCompared: Bool) {
        self.bytes.withUnsafeBytes { bytes in
            let piece = self.ends.piece(in: text, atEnd: atEnd) { index in
                let text = self.texts[index]
                let start = Int(text.start)
                return (UnsafeRawBufferPointer(rebasing: bytes[start..<start + Int(text.count)]), text.standsAlone)
            }
            return (piece.found.map { Hit(range: $0.range, secret: Int(self.texts[$0.index].secret), form: .plain) }, piece.isCompared)
        }
    }

    private func needle(_ reference: Int32, _ bytes: UnsafeRawBufferPointer) -> Needle {
        let text = self.texts[Int(reference >> 4)]
        let range = Int(text.start)..<Int(text.start) + Int(text.count)
        // Only the numbers of spellings are stored.
        return Needle(Needle.Spelling(rawValue: UInt8(reference & 15)) ?? .plain, of: UnsafeRawBufferPointer(rebasing: bytes[range]))
    }

    private static func end(of needle: Needle, _ standsAlone: Bool, in text: UnsafeRawBufferPointer, at start: Int) -> Int? {
        let least = min(needle.count, Self.compareLimit)
        guard start >= 0, text.count - start >= least, let base = text.baseAddress, let own = needle.bytes.baseAddress else { return nil }
        if needle.spelling == .plain {
            guard memcmp(base + start, own, least) == 0 else { return nil }
        } else {
            for index in 0..<least where text[start + index] != needle[index] { return nil }
        }
        var length = least
        while length < needle.count, start + length < text.count, text[start + length] == needle[length] { length += 1 }
        let end = start + length
        guard standsAlone else { return end }
        if start > 0, FormSpelling.isAlphanumeric(text[start - 1]) { return nil }
        if end < text.count, FormSpelling.isAlphanumeric(text[end]) { return nil }
        return end
    }
}

/// Needles indexed by the hash of a few of their bytes, so that a text is examined in strides.
///
/// Each needle has a window of `window` bytes. The block at every offset within the window is indexed. A text that contains the needle
/// therefore has one of these blocks at some multiple of `stride`. Does not hold the bytes of needles, which the caller supplies.
struct NeedleTable: Sendable {
    /// Twelve bytes. There is one entry for each block of each needle of a run's secrets.
    private struct Entry: Sendable {
        var hash: UInt32
        /// The needle's number, and the place of the block within it in the lowest `placeBits` bits.
        var needle: UInt32
        var next: Int32
    }

    let window: Int
    let block: Int
    var stride: Int { self.window - self.block + 1 }

    /// Uses a new seed in each process, so that nobody can construct collisions.
    private static let factor = UInt64.random(in: .min ... .max) | 1
    /// How many needles with the same block are compared one by one before another window is tried.
    private static let chainLimit = 16
    /// Two bits for the window, four for the block in it.
    private static let placeBits: UInt32 = 6
    /// How many needles can be numbered.
    static let needleLimit = 1 << (32 - Int(placeBits))

    /// A bit set of the hashes present, which rules out most blocks of a text at once.
    private var filter: [UInt64] = []
    private var filterShift: UInt64 = 64 - 15
    private var heads: [Int32] = []
    private var headShift: UInt64 = 64 - 8
    private var entries: [Entry] = []

    init(window: Int, block: Int) {
        self.window = window
        self.block = block
    }

    var isEmpty: Bool { self.entries.isEmpty }
    /// The number of blocks in the index.
    var count: Int { self.entries.count }

    @inline(__always)
    private func key(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        self.block == 8
            ? bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            : UInt64(bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    /// The offsets at which a needle's window may start, the best first: tokens of one kind begin alike and end in random bytes.
    private func windows(_ length: Int) -> [Int] { [length - self.window, (length - self.window) / 2, 0] }

    /// Adds a needle of at least `window` bytes. Returns false and adds nothing if every window has a block that is shared by too many
    /// others.
    mutating func insert(_ needle: Int32, _ bytes: UnsafeRawBufferPointer) -> Bool {
        precondition(bytes.count >= self.window && needle >= 0 && needle < Self.needleLimit)
        if self.heads.isEmpty {
            self.filter = Array(repeating: 0, count: 1 << 9)
            self.heads = Array(repeating: -1, count: 1 << 8)
        }
        let windows = self.windows(bytes.count)
        guard let window = windows.firstIndex(where: { !self.isCrowded(bytes, $0) }) else { return false }
        for offset in 0..<self.stride {
            let hash = self.key(bytes, windows[window] + offset) &* Self.factor
            let place = UInt32(window) << 4 | UInt32(offset)
            self.append(Entry(hash: UInt32(truncatingIfNeeded: hash >> 32), needle: UInt32(needle) << Self.placeBits | place, next: -1))
        }
        return true
    }

    private func isCrowded(_ bytes: UnsafeRawBufferPointer, _ start: Int) -> Bool {
        (start..<start + self.stride).contains { offset in
            let hash = self.key(bytes, offset) &* Self.factor
            var count = 0
            var looked = 0
            var entry = self.heads[Int(hash >> self.headShift)]
            while entry >= 0, count < Self.chainLimit, looked < Self.chainLimit * 4 {
                if self.entries[Int(entry)].hash == UInt32(truncatingIfNeeded: hash >> 32) { count += 1 }
                entry = self.entries[Int(entry)].next
                looked += 1
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
        // The filter and the heads only use the upper half of a hash.
        let hash = UInt64(self.entries[index].hash) << 32
        let bit = hash >> self.filterShift
        self.filter[Int(bit >> 6)] |= 1 << (bit & 63)
        let head = Int(hash >> self.headShift)
        self.entries[index].next = self.heads[head]
        self.heads[head] = Int32(index)
    }

    private mutating func grow() {
        self.headShift -= 1
        self.heads = Array(repeating: -1, count: self.heads.count * 2)
        // Reserves exactly as many as there are heads; growth by appending would double the capacity.
        self.entries.reserveCapacity(self.heads.count)
        if self.heads.count << 4 > self.filter.count << 6 {
            self.filterShift -= 1
            self.filter = Array(repeating: 0, count: self.filter.count * 2)
        } else {
            self.filter = Array(repeating: 0, count: self.filter.count)
        }
        for index in self.entries.indices { self.link(index) }
    }

    private struct Found {
        var needle: Int32
        var range: Range<Int>
    }

    /// Examines each block of the text that may belong to a needle.
    ///
    /// - Parameters:
    ///   - length: returns the length of a needle as it was inserted.
    ///   - end: returns the end of the needle that starts at an offset, which may be negative; nil if it does not match.
    ///   - found: receives the matches, except for those within another match at the same place.
    func search(
        _ text: UnsafeRawBufferPointer, length: (_ needle: Int32) -> Int, end: (_ needle: Int32, _ start: Int) -> Int?,
        found: (_ needle: Int32, _ range: Range<Int>) -> Void
    ) {
        guard !self.isEmpty, text.count >= self.window else { return }
        let (stride, last) = (self.stride, text.count - self.block)
        let (filterShift, factor) = (self.filterShift, Self.factor)
        var here: [Found] = []
        self.filter.withUnsafeBufferPointer { filter in
            // SAFETY: a shifted hash has as many bits as `filter`; a block at an offset up to `last` is still within the text.
            func look(_ offset: Int, around inner: Range<Int>?, from least: Int) -> Range<Int>? {
                let hash = self.key(text, offset) &* factor
                let bit = hash >> filterShift
                guard filter[Int(truncatingIfNeeded: bit >> 6)] >> (bit & 63) & 1 == 1 else { return nil }
                return self.look(hash, offset, around: inner, from: least, length, end, &here)
            }
            var offset = 0
            // The end of the previous match.
            var least = 0
            while offset <= last {
                guard var all = look(offset, around: nil, from: least) else {
                    offset += stride
                    continue
                }
                // A longer needle around this match may end a few bytes after it, and then has a block within it.
                var inner = offset + stride
                while inner < all.upperBound, inner <= last {
                    all = look(inner, around: all, from: least) ?? all
                    inner += stride
                }
                self.deliver(here, found)
                here.removeAll(keepingCapacity: true)
                // A needle that begins within the match is part of it.
                least = all.upperBound
                offset = max(all.upperBound, offset + 1)
            }
        }
    }

    /// All matches share a block, so the longest one, the one that begins first and the one that ends last cover all others.
    private func deliver(_ here: [Found], _ found: (_ needle: Int32, _ range: Range<Int>) -> Void) {
        guard let longest = here.max(by: { $0.range.count < $1.range.count }),
            let first = here.min(by: { $0.range.lowerBound < $1.range.lowerBound }),
            let last = here.max(by: { $0.range.upperBound < $1.range.upperBound })
        else { return }
        found(longest.needle, longest.range)
        if first.range.lowerBound < longest.range.lowerBound { found(first.needle, first.range) }
        if last.range.upperBound > longest.range.upperBound { found(last.needle, last.range) }
    }

    /// - Parameters:
    ///   - inner: restricts the search to needles that contain this range and end after it.
    ///   - least: the earliest beginning of a match.
    ///   - here: receives the matches.
    ///   - Returns: the range covered by all matches.
    private func look(
        _ hash: UInt64, _ offset: Int, around inner: Range<Int>?, from least: Int, _ length: (Int32) -> Int,
        _ end: (_ needle: Int32, _ start: Int) -> Int?, _ here: inout [Found]
    ) -> Range<Int>? {
        var all: Range<Int>?
        var entry = self.heads[Int(hash >> self.headShift)]
        while entry >= 0 {
            let candidate = self.entries[Int(entry)]
            if candidate.hash == UInt32(truncatingIfNeeded: hash >> 32) {
                let needle = Int32(candidate.needle >> Self.placeBits)
                let count = length(needle)
                let spare = count - self.window
                let window = candidate.needle >> 4 & 3
                let start = offset - (window == 0 ? spare : window == 1 ? spare / 2 : 0) - Int(candidate.needle & 15)
                let isAsked = inner.map { start >= least && start <= $0.lowerBound && start + count > $0.upperBound } ?? true
                if isAsked, let end = end(needle, start) {
                    here.append(Found(needle: needle, range: start..<end))
                    all = all.map { $0.upperBound >= end ? $0 : min(start, $0.lowerBound)..<end } ?? start..<end
                }
            }
            entry = candidate.next
        }
        return all
    }
}
