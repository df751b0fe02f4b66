internal import CassetteModel
internal import Platform

/// The beginnings and ends of secrets, for finding a secret that the border of a message or of a part cuts.
///
/// Only for secrets as they are, without other spellings. Does not hold the bytes of secrets, which the caller supplies.
struct NeedleEnds: Sendable {
    /// A shorter piece gives little away, and texts contain it by chance. A piece of at least half of a secret counts from four bytes on.
    private static let leastLength = 8
    private static let window = 4
    /// How many pieces are compared for one border, so that no text can make it cost more: about a millisecond.
    private static let compareLimit = 100_000

    /// The newest secret with these four bytes, and for each secret the one before it.
    private var newest: (head: [UInt32: Int32], tail: [UInt32: Int32]) = ([:], [:])
    private var previous: [(head: Int32, tail: Int32)] = []
    private var longest = 0

    /// - Parameter index: how many were inserted before.
    mutating func insert(_ secret: UnsafeRawBufferPointer, index: Int) {
        guard secret.count >= Self.window else { return }
        // Texts that are shorter have no entry of their own.
        while self.previous.count < index { self.previous.append((-1, -1)) }
        let head = Self.word(secret, at: 0)
        let tail = Self.word(secret, at: secret.count - Self.window)
        self.previous.append((self.newest.head[head] ?? -1, self.newest.tail[tail] ?? -1))
        self.newest.head[head] = Int32(index)
        self.newest.tail[tail] = Int32(index)
        self.longest = max(self.longest, min(secret.count, NeedleIndex.compareLimit))
    }

    private static func word(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt32 {
        bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
    }

    /// The longest piece of a secret at a border of a text, and the number under which the secret was inserted. `isCompared` is false if
    /// there are too many candidates.
    ///
    /// - Parameters:
    ///   - atEnd: whether the text ends within a secret; otherwise it begins within one.
    ///   - secret: the bytes of a secret, and whether it only counts as a word of its own.
    func piece(
        in text: UnsafeRawBufferPointer, atEnd: Bool, secret: (Int) -> (bytes: UnsafeRawBufferPointer, standsAlone: Bool)
    ) -> (found: (range: Range<Int>, index: Int)?, isCompared: Bool) {
        guard self.longest > Self.window, text.count >= Self.window else { return (nil, true) }
        var compared = 0
        for count in stride(from: min(text.count, self.longest - 1), through: Self.window, by: -1) {
            let range = atEnd ? text.count - count..<text.count : 0..<count
            let word = Self.word(text, at: atEnd ? range.lowerBound : range.upperBound - Self.window)
            var index = (atEnd ? self.newest.head[word] : self.newest.tail[word]) ?? -1
            while index >= 0 {
                compared += 1
                guard compared <= Self.compareLimit else { return (nil, false) }
                let (bytes, standsAlone) = secret(Int(index))
                if self.isPiece(range, of: bytes, in: text, atEnd: atEnd),
                    !standsAlone || !Self.isInWord(range, in: text, atEnd: atEnd)
                {
                    return ((range, Int(index)), true)
                }
                index = atEnd ? self.previous[Int(index)].head : self.previous[Int(index)].tail
            }
        }
        return (nil, true)
    }

    private func isPiece(_ range: Range<Int>, of secret: UnsafeRawBufferPointer, in text: UnsafeRawBufferPointer, atEnd: Bool) -> Bool {
        guard range.count < secret.count, range.count >= Self.leastLength || range.count * 2 >= secret.count,
            let base = text.baseAddress, let own = secret.baseAddress
        else { return false }
        return memcmp(base + range.lowerBound, atEnd ? own : own + (secret.count - range.count), range.count) == 0
    }

    /// Whether a letter or digit is next to the piece within the text.
    private static func isInWord(_ range: Range<Int>, in text: UnsafeRawBufferPointer, atEnd: Bool) -> Bool {
        let next = atEnd ? range.lowerBound - 1 : range.upperBound
        return text.indices.contains(next) && FormSpelling.isAlphanumeric(text[next])
    }
}
