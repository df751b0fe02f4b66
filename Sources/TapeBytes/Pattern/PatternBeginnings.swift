internal import Platform

/// The octets with which a match can begin, so that a search can pass over all others without looking closer.
struct PatternBeginnings: Sendable {
    /// All octets beyond ASCII and half of the others: with more there is too little to pass over.
    private static let most = 192

    /// For each octet whether a match can begin with it.
    private let isBeginning: [Bool]
    /// The one octet, where there is only one.
    private let only: UInt8?

    /// Nil where a match can be empty, or begin with most octets.
    init?(_ program: PatternProgram) {
        var sets: Set<Int> = []
        var visited = Array(repeating: false, count: program.instructions.count)
        var stack = [0]
        while let index = stack.popLast() {
            guard !visited[index] else { continue }
            visited[index] = true
            switch program.instructions[index] {
            case .take(let set): sets.insert(set)
            // Passed, whatever stands there: one that is not at its place begins no match later.
            case .require: stack.append(index + 1)
            case .split(let first, let second): stack += [first, second]
            case .jump(let target): stack.append(target)
            case .match: return nil
            }
        }
        let reachesBeyondASCII = sets.contains { program.alphabet.reachesBeyondASCII($0) }
        let isBeginning = (0..<256).map { octet in
            octet >= 128 ? reachesBeyondASCII : sets.contains { program.alphabet.has(program.alphabet.ascii(UInt8(octet)), in: $0) }
        }
        let octets = isBeginning.indices.filter { isBeginning[$0] }
        guard octets.count < Self.most else { return nil }
        self.isBeginning = isBeginning
        self.only = octets.count == 1 ? UInt8(octets[0]) : nil
    }

    /// The first place at `index` or behind it where a match can begin; the end where there is none.
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
