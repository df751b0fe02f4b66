/// Finds what is reached from instructions without taking a character.
///
/// Kept between uses for its memory alone.
struct PatternClosure: Sendable {
    private let instructions: [PatternInstruction]
    private var visited: [UInt32]
    private var generation: UInt32 = 0
    private var stack: [Int] = []

    init(_ program: PatternProgram) {
        self.instructions = program.instructions
        self.visited = Array(repeating: 0, count: program.instructions.count)
    }

    /// Forgets what has been visited.
    mutating func begin() {
        if self.generation == .max {
            self.visited = Array(repeating: 0, count: self.visited.count)
            self.generation = 0
        }
        self.generation += 1
    }

    /// Calls `take` with each set and the instruction behind it; true where the match is reached.
    ///
    /// What was visited since `begin` is not visited again.
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
            case .match: isMatch = true
            }
        }
        return isMatch
    }
}
