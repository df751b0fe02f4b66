/// Short texts that secrets begin with or stand behind, found by looking at two octets of four (Wu and Manber's method).
struct SurveyTable: Sendable {
    enum Anchor: Sendable, Hashable {
        /// The last three letters of a name and a quote, an equals sign or a bracket.
        case name
        /// One or more of `SecretShape.all`.
        case shapes([Int])
        /// `eyJ` and one character more: base64 of `{"` and a letter.
        case webToken
        /// `BEGI` of an armour line.
        case armour
    }

    static let shared = SurveyTable()

    /// By the last two octets of a window of four: how far the window can move on; 0 where it may hold an anchor.
    private let shifts: [UInt8]
    private let anchors: [UInt32: Anchor]
    /// A bit for each of the low bits of a hash, asked before the dictionary.
    private let filter: [UInt64]

    private static let window = 4

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
        for octet in Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_".utf8) {
            anchors[Self.word(Array("eyJ".utf8) + [octet])] = .webToken
        }
        anchors[Self.word(Array("BEGI".utf8))] = .armour
        for name in SecretNames.names.flatMap(\.names) {
            for ending in Self.cases(Array(name.utf8.suffix(3))) {
                for mark in [UInt8(ascii: "\""), UInt8(ascii: "="), UInt8(ascii: ">")] { anchors[Self.word(ending + [mark])] = .name }
            }
        }
        var shifts = [UInt8](repeating: 3, count: 1 << 16)
        var filter = [UInt64](repeating: 0, count: 1 << 10)
        for word in anchors.keys {
            for (shift, bits) in [(2, 0), (1, 8), (0, 16)] as [(UInt8, UInt32)] {
                let pair = Int(word >> bits & 0xffff)
                shifts[pair] = min(shifts[pair], shift)
            }
            let bit = Self.bit(word)
            filter[Int(bit >> 6)] |= 1 << (bit & 63)
        }
        self.anchors = anchors
        self.shifts = shifts
        self.filter = filter
    }

    private static func bit(_ word: UInt32) -> UInt32 { (word &* 0x9e37_79b1) >> 16 }

    private static func word(_ octets: [UInt8]) -> UInt32 {
        octets.prefix(4).enumerated().reduce(0) { $0 | UInt32($1.element) << UInt32($1.offset * 8) }
    }

    /// Each letter in both cases; a name of two letters stands behind whatever may be in front of it.
    private static func cases(_ ending: [UInt8]) -> [[UInt8]] {
        var cases: [[UInt8]] = [[]]
        if ending.count < 3 { cases = Array("\"?&<:_-.".utf8).map { [$0] } }
        for octet in ending {
            let isLetter = octet >= 97 && octet <= 122
            cases = cases.flatMap { isLetter ? [$0 + [octet], $0 + [octet & ~32]] : [$0 + [octet]] }
        }
        return cases
    }

    /// Delivers each anchor with the offset of its four octets.
    func scan(_ text: UnsafeRawBufferPointer, deliver: (Anchor, Int) -> Void) {
        guard text.count >= Self.window, let base = text.baseAddress else { return }
        let last = text.count - 2
        self.shifts.withUnsafeBufferPointer { shifts in
            self.filter.withUnsafeBufferPointer { filter in
                var offset = Self.window - 2
                // SAFETY: two octets at `last` and the two in front of them are in the text; `shifts` has an entry for any two octets, and
                // `filter` a bit for any hash of 16 bits.
                while offset <= last {
                    let pair = UInt16(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
                    let shift = Int(shifts[Int(pair)])
                    guard shift == 0 else {
                        offset += shift
                        continue
                    }
                    let word = UInt32(littleEndian: base.loadUnaligned(fromByteOffset: offset - 2, as: UInt32.self))
                    let bit = Self.bit(word)
                    if filter[Int(bit >> 6)] >> UInt64(bit & 63) & 1 == 1, let anchor = self.anchors[word] { deliver(anchor, offset - 2) }
                    offset += 1
                }
            }
        }
    }
}
