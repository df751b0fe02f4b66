/// The classes of characters that a pattern cannot tell apart, so that an automaton needs one column for each.
struct PatternAlphabet: Sendable {
    /// The class of each octet of ASCII.
    private let asciiClasses: [UInt16]
    /// The first scalar of each range, and its class; ascending, from 0.
    private let starts: [UInt32]
    private let classes: [UInt16]
    private let isWord: [Bool]
    private let members: [[Bool]]
    private let beyondASCII: [Bool]

    /// How many classes there are.
    let count: Int

    init(_ sets: [PatternCharacters]) {
        var cuts: Set<UInt32> = [0, PatternCharacters.notUTF8]
        let all = sets + [PatternCharacters.word]
        for range in all.lazy.flatMap(\.ranges) {
            cuts.insert(range.lowerBound)
            if range.upperBound < PatternCharacters.notUTF8 { cuts.insert(range.upperBound + 1) }
        }
        let starts = cuts.sorted()
        var numbers: [[Bool]: UInt16] = [:]
        var kinds: [[Bool]] = []
        let classes = starts.map { start in
            let kind = all.map { $0.contains(start) }
            if let number = numbers[kind] { return number }
            let number = UInt16(kinds.count)
            numbers[kind] = number
            kinds.append(kind)
            return number
        }
        self.starts = starts
        self.classes = classes
        self.count = kinds.count
        self.isWord = kinds.map { $0[sets.count] }
        self.members = sets.indices.map { set in kinds.map { $0[set] } }
        self.beyondASCII = sets.map { set in set.ranges.contains { $0.upperBound >= 128 } }
        self.asciiClasses = (0..<128).map { octet in classes[Self.index(of: octet, in: starts)] }
    }

    func has(_ characterClass: Int, in set: Int) -> Bool { self.members[set][characterClass] }

    /// Whether a set has any character that is no ASCII, or octets that are no UTF-8.
    func reachesBeyondASCII(_ set: Int) -> Bool { self.beyondASCII[set] }

    /// The class of an octet below 128.
    func ascii(_ octet: UInt8) -> Int { Int(self.asciiClasses[Int(octet)]) }

    func neighbour(_ characterClass: Int) -> PatternEdge.Neighbour { self.isWord[characterClass] ? .wordCharacter : .otherCharacter }

    /// Only characters of ASCII are word characters, so one octet says it.
    static func neighbour(in bytes: UnsafeRawBufferPointer, before index: Int) -> PatternEdge.Neighbour {
        guard index > 0 else { return .nothing }
        return PatternCharacters.word.contains(UInt32(bytes[index - 1])) ? .wordCharacter : .otherCharacter
    }

    /// The class of the character at `index`, which is less than the count, and how many octets it has.
    @inline(__always)
    func character(in bytes: UnsafeRawBufferPointer, at index: Int) -> (class: Int, length: Int) {
        let octet = bytes[index]
        return octet < 128 ? (Int(self.asciiClasses[Int(octet)]), 1) : self.longCharacter(in: bytes, at: index)
    }

    private func longCharacter(in bytes: UnsafeRawBufferPointer, at index: Int) -> (class: Int, length: Int) {
        let octet = bytes[index]
        let length = octet >= 0xF0 ? 4 : octet >= 0xE0 ? 3 : 2
        guard octet >= 0xC2, index + length <= bytes.count,
            UTF8Validator.isValid(UnsafeRawBufferPointer(rebasing: bytes[index..<index + length]))
        else { return (Int(self.classes[self.classes.count - 1]), 1) }
        var value = UInt32(octet) & (0x7F >> UInt32(length))
        for offset in 1..<length { value = value << 6 | UInt32(bytes[index + offset] & 0x3F) }
        return (Int(self.classes[Self.index(of: value, in: self.starts)]), length)
    }

    /// The last range that starts at or before the value.
    private static func index(of value: UInt32, in starts: [UInt32]) -> Int {
        var (low, high) = (0, starts.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if starts[middle] <= value { low = middle } else { high = middle }
        }
        return low
    }
}
