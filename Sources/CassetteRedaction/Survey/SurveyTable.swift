/// Short texts that secrets begin with or follow, found by looking at three bytes out of every other offset.
struct SurveyTable: Sendable {
    enum Anchor: Sendable, Hashable {
        /// The last three letters of a name and a quote, an equals sign, a colon or a bracket.
        case name
        /// One or more of `SecretShape.all`.
        case shapes([Int])
        /// `eyJ` and one character more: base64 of `{"` and a letter.
        case webToken
        /// `BEGI` of an armour line.
        case armour
    }

    static let shared = SurveyTable()

    private static let window = 4
    /// Bits of a hash for the filters: 8 KiB each, so that both stay in the first level of a processor's cache.
    private static let filterBits: UInt32 = 16

    /// Open addressing by a word's hash, a power of two long and at most a quarter full: a number of `anchors` and one, or 0.
    private let slots: [UInt8]
    private let words: [UInt32]
    private let anchors: [Anchor]
    /// A bit for the first three and the last three bytes of each anchor: one of the two lies at an even offset.
    private let threes: [UInt64]
    /// A bit for each anchor.
    private let fours: [UInt64]

    private init() {
        var anchors: [UInt32: Anchor] = [:]
        for (index, shape) in SecretShape.all.enumerated() {
            let word = Self.word((0..<4).map { shape.prefix.utf8Start[shape.anchor + $0] })
            if case .shapes(let others) = anchors[word] {
                anchors[word] = .shapes(others + [index])
            } else {
                anchors[word] = .shapes([index])
            }
        }
        for byte in Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_".utf8) {
            anchors[Self.word(Array("eyJ".utf8) + [byte])] = .webToken
        }
        anchors[Self.word(Array("BEGI".utf8))] = .armour
        for ending in Set((SecretNames.names.flatMap(\.names) + ["cookie"]).flatMap { Self.cases(Array($0.utf8.suffix(3))) }) {
            for mark in "\"'=:>".utf8 { anchors[Self.word(ending + [mark])] = .name }
        }
        let kinds = Array(Set(anchors.values))
        var threes = [UInt64](repeating: 0, count: 1 << (Self.filterBits - 6))
        var fours = threes
        var size = 16
        while size < anchors.count * 4 { size *= 2 }
        var slots = [UInt8](repeating: 0, count: size)
        var words = [UInt32](repeating: 0, count: size)
        for (word, anchor) in anchors {
            for three in [word & 0xff_ffff, word >> 8] {
                let bit = Self.bit(three)
                threes[Int(bit >> 6)] |= 1 << (bit & 63)
            }
            let bit = Self.bit(word)
            fours[Int(bit >> 6)] |= 1 << (bit & 63)
            var slot = Int(Self.hash(word)) & (size - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (size - 1) }
            slots[slot] = UInt8(kinds.firstIndex(of: anchor).map { $0 + 1 } ?? 0)
            words[slot] = word
        }
        self.slots = slots
        self.words = words
        self.anchors = kinds
        self.threes = threes
        self.fours = fours
    }

    private static func hash(_ word: UInt32) -> UInt32 { (word &* 0x9e37_79b1) >> 8 }

    @inline(__always)
    private static func bit(_ word: UInt32) -> UInt32 { (word &* 0x9e37_79b1) >> (32 - Self.filterBits) }

    private func anchor(_ word: UInt32) -> Anchor? {
        var slot = Int(Self.hash(word)) & (self.slots.count - 1)
        while self.slots[slot] != 0 {
            if self.words[slot] == word { return self.anchors[Int(self.slots[slot]) - 1] }
            slot = (slot + 1) & (self.slots.count - 1)
        }
        return nil
    }

    private static func word(_ bytes: [UInt8]) -> UInt32 {
        bytes.prefix(4).enumerated().reduce(0) { $0 | UInt32($1.element) << UInt32($1.offset * 8) }
    }

    /// Each letter in both cases; a name of two letters comes with each byte that may precede it.
    private static func cases(_ ending: [UInt8]) -> [[UInt8]] {
        var cases: [[UInt8]] = [[]]
        if ending.count < 3 { cases = Array("\"?&<:_-.".utf8).map { [$0] } }
        for byte in ending {
            let isLetter = byte >= 97 && byte <= 122
            cases = cases.flatMap { isLetter ? [$0 + [byte], $0 + [byte & ~32]] : [$0 + [byte]] }
        }
        return cases
    }

    /// Delivers each anchor with the offset of its four bytes, in ascending order.
    func scan(_ text: UnsafeRawBufferPointer, deliver: (Anchor, Int) -> Void) {
        guard text.count >= Self.window, let base = text.baseAddress else { return }
        let last = text.count - Self.window
        self.threes.withUnsafeBufferPointer { threes in
            self.fours.withUnsafeBufferPointer { fours in
                // SAFETY: four bytes at `last`, or in front of it, are in the text; both filters have a bit for any hash.
                func look(_ offset: Int) {
                    let word = UInt32(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
                    let bit = Self.bit(word)
                    if fours[Int(bit >> 6)] >> UInt64(bit & 63) & 1 == 1, let anchor = self.anchor(word) { deliver(anchor, offset) }
                }
                var offset = 0
                while offset <= last {
                    let word = UInt32(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
                    let bit = Self.bit(word & 0xff_ffff)
                    if threes[Int(bit >> 6)] >> UInt64(bit & 63) & 1 == 1 {
                        if offset > 0 { look(offset - 1) }
                        look(offset)
                    }
                    offset += 2
                }
                if offset == last + 1 { look(last) }
            }
        }
    }
}
