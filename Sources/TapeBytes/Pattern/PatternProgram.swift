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
