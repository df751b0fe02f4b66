/// A regular expression that finds its matches as `Pattern` does, and then tells where each group of a match is.
///
/// Follows the pattern with all its candidates at once, so the time is linear in a match's length.
package struct CapturingPattern: Sendable, Hashable {
    package let pattern: Pattern
    /// How many groups `( )` the pattern has.
    package let groupCount: Int

    private let program: PatternProgram

    /// Throws if the text is not a pattern, or costs more than `PatternLimits` allows.
    package init(_ text: String) throws(PatternError) {
        self.pattern = try Pattern(text)
        let parsed = try PatternParser.parse(text, capturesGroups: true)
        self.groupCount = parsed.groups
        self.program = PatternProgram(parsed.node)
    }

    package static func == (one: Self, other: Self) -> Bool { one.pattern == other.pattern }

    package func hash(into hasher: inout Hasher) { hasher.combine(self.pattern) }

    /// A candidate on the way through the pattern, and the places that it has noted.
    private struct Candidate {
        var instruction: Int
        var places: [Int]
    }

    /// Where the groups of a match are: the whole match first, then each group, nil if it took no part in the match.
    ///
    /// Of several ways to read a match, takes the one that the earlier branches of `|` and the longest repetitions give.
    ///
    /// - Parameter match: a range that `Pattern.firstRange` or `ranges` has returned for the same bytes.
    package func groups(of match: Range<Int>, in bytes: UnsafeRawBufferPointer) -> [Range<Int>?] {
        let none = [Int](repeating: -1, count: 2 * (self.groupCount + 1))
        let alphabet = self.program.alphabet
        var candidates = [Candidate(instruction: 0, places: none)]
        var visited = [Int](repeating: -1, count: self.program.instructions.count)
        var before = PatternAlphabet.neighbour(in: bytes, before: match.lowerBound)
        var index = match.lowerBound
        while true {
            let isEnd = index >= match.upperBound
            let (character, length) = index < bytes.count ? alphabet.character(in: bytes, at: index) : (0, 0)
            let after = index < bytes.count ? alphabet.neighbour(character) : PatternEdge.Neighbour.nothing
            var next: [Candidate] = []
            for candidate in candidates {
                var stack = [candidate]
                while var current = stack.popLast() {
                    guard visited[current.instruction] != index else { continue }
                    visited[current.instruction] = index
                    switch self.program.instructions[current.instruction] {
                    case .take(let set):
                        guard !isEnd, alphabet.has(character, in: set) else { continue }
                        current.instruction += 1
                        next.append(current)
                    case .require(let edge):
                        guard edge.isAt(before: before, after: after) else { continue }
                        current.instruction += 1
                        stack.append(current)
                    case .save(let slot):
                        current.places[slot] = index
                        current.instruction += 1
                        stack.append(current)
                    case .jump(let target):
                        current.instruction = target
                        stack.append(current)
                    case .split(let first, let second):
                        current.instruction = second
                        stack.append(current)
                        current.instruction = first
                        stack.append(current)
                    case .match:
                        if isEnd { return self.ranges(current.places, match) }
                    }
                }
            }
            guard !isEnd, !next.isEmpty else { return self.ranges(none, match) }
            candidates = next
            before = after
            index += length
        }
    }

    private func ranges(_ places: [Int], _ match: Range<Int>) -> [Range<Int>?] {
        [match]
            + (0..<self.groupCount).map { group in
                let (start, end) = (places[2 * (group + 1)], places[2 * (group + 1) + 1])
                return start >= 0 && end >= start ? start..<end : nil
            }
    }
}
