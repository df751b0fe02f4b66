/// A compiled pattern: instructions, and the classes of characters that they tell apart.
struct PatternProgram: Sendable {
    let instructions: [PatternInstruction]
    let alphabet: PatternAlphabet
    /// Whether any instruction looks at what stands beside a place.
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

/// Makes instructions of a tree (Thompson's construction); the parser has seen to it that they are not too many.
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
