/// Finds the leftmost longest match by following all candidates at once, each with its start.
///
/// Slower than an automaton, so it runs only after an automaton has found that there is a match, and from its start.
struct PatternSearch {
    private typealias Thread = (instruction: Int, start: Int)

    private let program: PatternProgram
    private var closure: PatternClosure
    /// How far the last search has read.
    private(set) var furthest = 0

    init(_ program: PatternProgram) {
        self.program = program
        self.closure = PatternClosure(program)
    }

    mutating func firstRange(in bytes: UnsafeRawBufferPointer, from: Int, before: PatternEdge.Neighbour) -> Range<Int>? {
        // Ascending by start, as each step keeps the order and appends the newest. So the first thread to reach an instruction is the one
        // that started first.
        var threads: [Thread] = []
        var best: Range<Int>?
        var (index, before) = (from, before)
        defer { self.furthest = index }
        while true {
            let isEnd = index == bytes.count
            let (character, length) = isEnd ? (0, 0) : self.program.alphabet.character(in: bytes, at: index)
            let after = isEnd ? PatternEdge.Neighbour.nothing : self.program.alphabet.neighbour(character)
            if best == nil { threads.append((0, index)) }
            var next: [Thread] = []
            self.closure.begin()
            for thread in threads {
                if let best, thread.start > best.lowerBound { break }
                let alphabet = self.program.alphabet
                let found = self.closure.follow(thread.instruction, before: before, after: after) { set, target in
                    if !isEnd, alphabet.has(character, in: set) { next.append((target, thread.start)) }
                }
                if found { best = thread.start..<index }
            }
            if let best { next.removeAll { $0.start > best.lowerBound } }
            if isEnd || (best != nil && next.isEmpty) { return best }
            threads = next
            before = after
            index += length
        }
    }
}

/// Finds the instructions that can be reached without taking a character.
///
/// Keeps only its memory between uses.
struct PatternClosure: Sendable {
    private let instructions: [PatternInstruction]
    private var visited: [UInt32]
    private var generation: UInt32 = 0
    private var stack: [Int] = []

    init(_ program: PatternProgram) {
        self.instructions = program.instructions
        self.visited = Array(repeating: 0, count: program.instructions.count)
    }

    /// Forgets which instructions have been visited.
    mutating func begin() {
        if self.generation == .max {
            self.visited = Array(repeating: 0, count: self.visited.count)
            self.generation = 0
        }
        self.generation += 1
    }

    /// Calls `take` with each set and the instruction after it; returns true if the match is reached.
    ///
    /// Skips instructions visited since `begin`.
    mutating func follow(
        _ start: Int, before: PatternEdge.Neighbour, after: PatternEdge.Neighbour, take: (_ set: Int, _ next: Int) -> Void
    ) -> Bool {
        var isMatch = false
        self.stack.append(start)
        while let index = self.stack.popLast() {
            guard self.visited[index] != self.generation else { continue }
            self.visited[index] = self.generation
            switch self.instructions[index] {
            case .take(let set): take(set, index + 1)
            case .require(let edge): if edge.isAt(before: before, after: after) { self.stack.append(index + 1) }
            case .split(let first, let second): self.stack += [second, first]
            case .jump(let target): self.stack.append(target)
            case .save: self.stack.append(index + 1)
            case .match: isMatch = true
            }
        }
        return isMatch
    }
}
