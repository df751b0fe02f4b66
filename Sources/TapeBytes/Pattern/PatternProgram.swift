/// A compiled pattern: its instructions, and the classes of characters that they distinguish.
struct PatternProgram: Sendable {
    let instructions: [PatternInstruction]
    let alphabet: PatternAlphabet
    /// Whether any instruction looks at the neighbours of a position.
    let hasEdges: Bool

    init(_ node: PatternNode) {
        var compiler = PatternCompiler()
        compiler.add(node)
        compiler.instructions.append(.match)
        let hasEdges = compiler.instructions.contains { if case .require = $0 { true } else { false } }
        self.instructions = compiler.instructions
        self.hasEdges = hasEdges
        self.alphabet = PatternAlphabet(compiler.sets)
    }
}

/// One step of a compiled pattern. A step without a target continues with the next one.
enum PatternInstruction: Sendable, Hashable {
    /// Takes one character of the set with this number.
    case take(Int)
    case require(PatternEdge)
    /// Continues with both.
    case split(Int, Int)
    case jump(Int)
    /// Notes the place in the slot with this number; only in a `CapturingPattern`.
    case save(Int)
    case match
}

/// Compiles a tree into instructions (Thompson's construction). The parser has limited their number.
struct PatternCompiler {
    var instructions: [PatternInstruction] = []
    private(set) var sets: [PatternCharacters] = []
    private var numbers: [PatternCharacters: Int] = [:]

    mutating func add(_ node: PatternNode) {
        switch node {
        case .empty: break
        case .characters(let set): self.instructions.append(.take(self.number(of: set)))
        case .edge(let edge): self.instructions.append(.require(edge))
        case .sequence(let nodes): for node in nodes { self.add(node) }
        case .choice(let nodes): self.addChoice(nodes)
        case .group(let number, let node):
            self.instructions.append(.save(2 * number))
            self.add(node)
            self.instructions.append(.save(2 * number + 1))
        case .repeated(let node, let least, let most): self.addRepeated(node, least: least, most: most)
        }
    }

    private mutating func number(of set: PatternCharacters) -> Int {
        if let number = self.numbers[set] { return number }
        self.sets.append(set)
        self.numbers[set] = self.sets.count - 1
        return self.sets.count - 1
    }

    private mutating func addChoice(_ nodes: [PatternNode]) {
        var jumps: [Int] = []
        for node in nodes.dropLast() {
            let split = self.instructions.count
            self.instructions.append(.match)
            self.add(node)
            jumps.append(self.instructions.count)
            self.instructions.append(.match)
            self.instructions[split] = .split(split + 1, self.instructions.count)
        }
        if let last = nodes.last { self.add(last) }
        for jump in jumps { self.instructions[jump] = .jump(self.instructions.count) }
    }

    private mutating func addRepeated(_ node: PatternNode, least: Int, most: Int?) {
        for _ in 0..<(most == nil ? max(0, least - 1) : least) { self.add(node) }
        let start = self.instructions.count
        switch (least, most) {
        case (0, nil):
            self.instructions.append(.match)
            self.add(node)
            self.instructions.append(.jump(start))
            self.instructions[start] = .split(start + 1, self.instructions.count)
        case (_, nil):
            self.add(node)
            self.instructions.append(.split(start, self.instructions.count + 1))
        case (_, let most?):
            var splits: [Int] = []
            for _ in least..<most {
                splits.append(self.instructions.count)
                self.instructions.append(.match)
                self.add(node)
            }
            for split in splits { self.instructions[split] = .split(split + 1, self.instructions.count) }
        }
    }
}

/// The classes of characters that a pattern does not distinguish. An automaton needs one column for each class.
struct PatternAlphabet: Sendable {
    /// The class of each ASCII byte.
    private let asciiClasses: [UInt16]
    /// The first scalar of each range, and its class; ascending, from 0.
    private let starts: [UInt32]
    private let classes: [UInt16]
    private let isWord: [Bool]
    private let members: [[Bool]]
    private let beyondASCII: [Bool]

    /// The number of classes.
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
        self.asciiClasses = (0..<128).map { byte in classes[Self.index(of: byte, in: starts)] }
    }

    func has(_ characterClass: Int, in set: Int) -> Bool { self.members[set][characterClass] }

    /// Whether a set has any character outside ASCII, or bytes that are not UTF-8.
    func reachesBeyondASCII(_ set: Int) -> Bool { self.beyondASCII[set] }

    /// The class of a byte below 128.
    func ascii(_ byte: UInt8) -> Int { Int(self.asciiClasses[Int(byte)]) }

    func neighbour(_ characterClass: Int) -> PatternEdge.Neighbour { self.isWord[characterClass] ? .wordCharacter : .otherCharacter }

    /// All word characters are ASCII, so one byte decides.
    static func neighbour(in bytes: UnsafeRawBufferPointer, before index: Int) -> PatternEdge.Neighbour {
        guard index > 0 else { return .nothing }
        return PatternCharacters.word.contains(UInt32(bytes[index - 1])) ? .wordCharacter : .otherCharacter
    }

    /// The class and the length in bytes of the character at `index`, which must be less than the count.
    @inline(__always)
    func character(in bytes: UnsafeRawBufferPointer, at index: Int) -> (class: Int, length: Int) {
        let byte = bytes[index]
        return byte < 128 ? (Int(self.asciiClasses[Int(byte)]), 1) : self.longCharacter(in: bytes, at: index)
    }

    private func longCharacter(in bytes: UnsafeRawBufferPointer, at index: Int) -> (class: Int, length: Int) {
        let byte = bytes[index]
        let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2
        guard byte >= 0xC2, index + length <= bytes.count,
            UTF8Validator.isValid(UnsafeRawBufferPointer(rebasing: bytes[index..<index + length]))
        else { return (Int(self.classes[self.classes.count - 1]), 1) }
        var value = UInt32(byte) & (0x7F >> UInt32(length))
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
