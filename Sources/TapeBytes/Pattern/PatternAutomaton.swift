internal import Platform

/// A deterministic automaton for a program, built state by state as the input requires.
///
/// Whether a state matches depends on the next character (`$`, `\b`), so a table entry records it for the state that it leaves. The table
/// starts over when it is full. So the time for each byte is bounded, for every pattern.
struct PatternAutomaton: Sendable {
    private struct State: Hashable, Sendable {
        /// The instructions to continue from, ascending.
        var kernel: [UInt16]
        var before: PatternEdge.Neighbour
        /// Whether no match that started earlier is in progress.
        var isFresh: Bool
    }

    private static let unknown: Int32 = -1

    private let program: PatternProgram
    private let isAnchored: Bool
    private let width: Int
    private let limit: Int
    private let beginnings: PatternBeginnings?
    private var closure: PatternClosure
    /// The fresh states, by what comes before the position.
    private var fresh: [PatternEdge.Neighbour: Int32] = [:]
    private var states: [State] = []
    private var numbers: [State: Int32] = [:]
    /// By state and class, with a last column for the end of input: 4 × the next state, plus 2 if that is fresh, plus 1 if this state
    /// matches.
    private var table: [Int32] = []
    private var entries = 0
    private(set) var timesBegun = 0
    /// How far the last search for a start has read.
    private(set) var furthest = 0

    /// An anchored automaton follows only matches that start where it starts; any other automaton follows all matches.
    init(_ program: PatternProgram, isAnchored: Bool, limit: Int = PatternLimits.cells) {
        self.program = program
        self.isAnchored = isAnchored
        self.width = program.alphabet.count + 1
        self.limit = limit
        self.beginnings = isAnchored ? nil : PatternBeginnings(program)
        self.closure = PatternClosure(program)
    }

    /// Whether all of the input matches.
    mutating func matchesAll(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var state = self.start(before: .nothing)
        var index = 0
        while index < bytes.count {
            let (character, length) = self.program.alphabet.character(in: bytes, at: index)
            let entry = self.entry(state, character)
            state = entry >> 2
            if self.states[Int(state)].kernel.isEmpty { return false }
            index += length
        }
        return self.entry(state, self.width - 1) & 1 == 1
    }

    /// The earliest offset at which a match can start; nil if there is no match. All attempts that started earlier have failed.
    mutating func earliestStart(in bytes: UnsafeRawBufferPointer, from: Int) -> Int? {
        var index = self.beginnings?.next(in: bytes, from: from) ?? from
        defer { self.furthest = index }
        var earliest = index
        var state = self.start(before: PatternAlphabet.neighbour(in: bytes, before: index))
        while index < bytes.count {
            let (character, length) = self.program.alphabet.character(in: bytes, at: index)
            let entry = self.entry(state, character)
            if entry & 1 == 1 { return earliest }
            index += length
            state = entry >> 2
            guard entry & 2 == 2 else { continue }
            if let beginnings {
                let next = beginnings.next(in: bytes, from: index)
                if next > index {
                    index = next
                    state = self.start(before: PatternAlphabet.neighbour(in: bytes, before: index))
                }
            }
            earliest = index
        }
        return self.entry(state, self.width - 1) & 1 == 1 ? earliest : nil
    }

    // MARK: - States

    @inline(__always)
    private mutating func entry(_ state: Int32, _ character: Int) -> Int32 {
        let entry = self.table[Int(state) * self.width + character]
        return entry == Self.unknown ? self.makeEntry(state, character) : entry
    }

    private mutating func start(before: PatternEdge.Neighbour) -> Int32 {
        let before = self.program.hasEdges ? before : .otherCharacter
        if let known = self.fresh[before] { return known }
        let number = self.number(of: State(kernel: [0], before: before, isFresh: true))
        self.fresh[before] = number
        return number
    }

    private mutating func makeEntry(_ state: Int32, _ character: Int) -> Int32 {
        let from = self.states[Int(state)]
        let alphabet = self.program.alphabet
        let isEnd = character == self.width - 1
        let after = isEnd ? PatternEdge.Neighbour.nothing : alphabet.neighbour(character)
        var kernel: [UInt16] = []
        var isMatch = false
        self.closure.begin()
        for instruction in from.kernel {
            let found = self.closure.follow(Int(instruction), before: from.before, after: after) { set, next in
                if !isEnd, alphabet.has(character, in: set) { kernel.append(UInt16(next)) }
            }
            if found { isMatch = true }
        }
        let match: Int32 = isMatch ? 1 : 0
        // Nothing follows the end, so the entry names its own state.
        guard !isEnd else { return self.keep(state << 2 | match, for: state, character) }
        let isFresh = kernel.isEmpty
        if !self.isAnchored { kernel.append(0) }
        kernel.sort()
        let next = State(kernel: kernel, before: self.program.hasEdges ? after : .otherCharacter, isFresh: isFresh)
        let timesBegun = self.timesBegun
        let number = self.number(of: next)
        let entry = number << 2 | (isFresh ? 2 : 0) | match
        // A table that started over no longer has the row.
        return self.timesBegun > timesBegun ? entry : self.keep(entry, for: state, character)
    }

    private mutating func keep(_ entry: Int32, for state: Int32, _ character: Int) -> Int32 {
        self.table[Int(state) * self.width + character] = entry
        return entry
    }

    private mutating func number(of state: State) -> Int32 {
        if let number = self.numbers[state] { return number }
        if self.table.count + self.entries + self.width + state.kernel.count > self.limit {
            self.states.removeAll(keepingCapacity: true)
            self.numbers.removeAll(keepingCapacity: true)
            self.table.removeAll(keepingCapacity: true)
            self.fresh.removeAll(keepingCapacity: true)
            self.entries = 0
            self.timesBegun += 1
        }
        let number = Int32(self.states.count)
        self.states.append(state)
        self.numbers[state] = number
        self.table.append(contentsOf: repeatElement(Self.unknown, count: self.width))
        self.entries += state.kernel.count
        return number
    }
}

/// The bytes with which a match can begin, so that a search can skip all others.
struct PatternBeginnings: Sendable {
    /// All bytes beyond ASCII and half of the others; with more, there is too little to skip.
    private static let most = 192

    /// Whether a match can begin with each byte.
    private let isBeginning: [Bool]
    /// The byte, if there is only one.
    private let only: UInt8?

    /// Nil if a match can be empty, or can begin with most bytes.
    init?(_ program: PatternProgram) {
        var sets: Set<Int> = []
        var visited = Array(repeating: false, count: program.instructions.count)
        var stack = [0]
        while let index = stack.popLast() {
            guard !visited[index] else { continue }
            visited[index] = true
            switch program.instructions[index] {
            case .take(let set): sets.insert(set)
            // Edges are not checked here: a wrong guess only starts a match that fails later.
            case .require: stack.append(index + 1)
            case .split(let first, let second): stack += [first, second]
            case .jump(let target): stack.append(target)
            case .save: stack.append(index + 1)
            case .match: return nil
            }
        }
        let reachesBeyondASCII = sets.contains { program.alphabet.reachesBeyondASCII($0) }
        let isBeginning = (0..<256).map { byte in
            byte >= 128 ? reachesBeyondASCII : sets.contains { program.alphabet.has(program.alphabet.ascii(UInt8(byte)), in: $0) }
        }
        let bytes = isBeginning.indices.filter { isBeginning[$0] }
        guard bytes.count < Self.most else { return nil }
        self.isBeginning = isBeginning
        self.only = bytes.count == 1 ? UInt8(bytes[0]) : nil
    }

    /// The first offset from `index` at which a match can begin, or the end.
    func next(in bytes: UnsafeRawBufferPointer, from index: Int) -> Int {
        var index = index
        guard let only else {
            while index < bytes.count, !self.isBeginning[Int(bytes[index])] { index += 1 }
            return index
        }
        guard index < bytes.count, let base = bytes.baseAddress, let found = memchr(base + index, Int32(only), bytes.count - index) else {
            return bytes.count
        }
        return UnsafeRawPointer(found) - base
    }
}
