import Testing

@testable import TapeBytes

@Suite struct PatternEdgeTests {
    @Test(
        arguments: [
            (.nothing, .nothing, [.start, .end, .noWordEdge]), (.nothing, .wordCharacter, [.start, .wordEdge]),
            (.nothing, .otherCharacter, [.start, .noWordEdge]),
            (.wordCharacter, .nothing, [.end, .wordEdge]), (.wordCharacter, .wordCharacter, [.noWordEdge]),
            (.wordCharacter, .otherCharacter, [.wordEdge]),
            (.otherCharacter, .nothing, [.end, .noWordEdge]), (.otherCharacter, .wordCharacter, [.wordEdge]),
            (.otherCharacter, .otherCharacter, [.noWordEdge]),
        ] as [(PatternEdge.Neighbour, PatternEdge.Neighbour, Set<PatternEdge>)])
    func anEdgeIsKnownByWhatIsBesideIt(before: PatternEdge.Neighbour, after: PatternEdge.Neighbour, wanted: Set<PatternEdge>) {
        let all: [PatternEdge] = [.start, .end, .wordEdge, .noWordEdge]
        #expect(Set(all.filter { $0.isAt(before: before, after: after) }) == wanted)
    }
}
