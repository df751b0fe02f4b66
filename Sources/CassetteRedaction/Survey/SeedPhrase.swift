/// The words of a cryptocurrency wallet: 12, 15, 18, 21 or 24 words of a list (BIP 39, "Generating the mnemonic").
///
/// Does not have the list. Its English words have three to eight lower-case letters, and none is an article or a similar word that any
/// sentence of this length contains.
struct SeedPhrase {
    /// From the first word to the last.
    let range: Range<Int>

    private static let counts: Set<Int> = [12, 15, 18, 21, 24]
    private static let lengths = 3...16
    /// How many marks may be between two words of a list: `", "` and its escaped quotes.
    private static let gapLimit = 6
    /// Words that are in no list.
    private static let others: Set<String> = [
        "the", "and", "with", "for", "are", "was", "has", "had", "not", "you", "its", "his", "her", "then", "from", "were",
    ]

    /// Nil if the text does not begin with such words, or continues with a further one.
    init?(_ bytes: UnsafeRawBufferPointer, from start: Int) {
        var (count, offset, end) = (0, start, start)
        let list = start > 0 ? bytes[start - 1] : 32
        var gap: Range<Int>?
        while count <= 24 {
            var word = offset
            while word < bytes.count, Self.isLetter(bytes[word]), word - offset <= Self.lengths.upperBound { word += 1 }
            guard Self.lengths.contains(word - offset), !Self.others.contains(String(decoding: bytes[offset..<word], as: UTF8.self)) else {
                break
            }
            (count, end) = (count + 1, word)
            // The same marks are between all words.
            var next = word
            if let gap {
                guard bytes.count - word > gap.count, bytes[word..<word + gap.count].elementsEqual(bytes[gap]) else { break }
                next = word + gap.count
            } else {
                while next < bytes.count, next - word < Self.gapLimit, Self.isMark(bytes[next], inList: list) { next += 1 }
                guard next > word else { break }
                gap = word..<next
            }
            offset = next
        }
        guard Self.counts.contains(count) else { return nil }
        // Part of a longer word or a sentence.
        if end < bytes.count, Self.isLetter(bytes[end] | 32) || bytes[end] >= 48 && bytes[end] <= 57 { return nil }
        self.range = start..<end
    }

    /// Whether a text is such words and nothing else.
    static func isAll(_ value: UnsafeRawBufferPointer) -> Bool {
        SeedPhrase(value, from: 0).map { $0.range.upperBound == value.count } ?? false
    }

    private static func isLetter(_ byte: UInt8) -> Bool { byte >= 97 && byte <= 122 || byte >= 128 }

    /// A blank, also as in forms; in a list, quotes and commas as well.
    private static func isMark(_ byte: UInt8, inList first: UInt8) -> Bool {
        if byte == 32 || byte == UInt8(ascii: "+") { return true }
        return (first == UInt8(ascii: "\"") || first == UInt8(ascii: "'"))
            && (byte == first || byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\\"))
    }
}

extension TextSurvey {
    /// How many marks may be between a name and its words.
    private static let markLimit = 8

    /// Handles the words of a wallet after their name, in any format. Returns whether they are there.
    mutating func seedPhrase(_ start: Int, _ end: Int) -> Bool {
        guard SecretNames.mayEndPhrase(self.bytes[end - 1]), let meaning = self.meaning(start, end) ?? self.meaningOfPhrase(start, end),
            meaning.isPhrase
        else { return false }
        var offset = end
        while offset < self.bytes.count, offset - end < Self.markLimit,
            self.bytes[offset] <= 32 || "\"':=>[{\\`".utf8.contains(self.bytes[offset])
        { offset += 1 }
        guard offset > end, let phrase = SeedPhrase(self.bytes, from: offset) else { return false }
        self.work += phrase.range.count
        guard self.text.isWhole(phrase.range), phrase.range.lowerBound >= self.phraseEnd else { return true }
        self.phraseEnd = phrase.range.upperBound
        let words = Array(self.bytes[phrase.range])
        let spelling: Finding.Spelling = words.contains(UInt8(ascii: "+")) ? .form : .plain
        self.findings.append(Finding(kind: meaning.kind, range: phrase.range, secret: words, spelling: spelling))
        return true
    }

    /// `DEPLOYER_MNEMONIC`, `wallet.seedPhrase`
    private func meaningOfPhrase(_ start: Int, _ end: Int) -> SecretNames.Meaning? {
        guard let mark = (start..<end).last(where: { "_.-".utf8.contains(self.bytes[$0]) }) else { return nil }
        return self.meaning(mark + 1, end)
    }
}
