/// Finds the leftmost of the longest matches by following all that are under way at once, each with its start.
///
/// Slower than an automaton, so it is given only the place where one has found that there is something.
struct PatternSearch {
    private typealias Thread = (instruction: Int, start: Int)

    private let program: PatternProgram
    private var closure: PatternClosure

    init(_ program: PatternProgram) {
        self.program = program
        self.closure = PatternClosure(program)
    }

    mutating func firstRange(in bytes: UnsafeRawBufferPointer, from: Int, before: PatternEdge.Neighbour) -> Range<Int>? {
        // Ascending by start, as each step keeps their order and the newest comes last: whoever reaches an instruction first began first.
        var threads: [Thread] = []
        var best: Range<Int>?
        var (index, before) = (from, before)
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
