@testable import TapeBytes
import Testing

@Suite struct PatternNodeTests {
    @Test(arguments: [
        "", "a", "^", "abc", "a|b|cd", "a*", "a+", "a?", "a{3}", "a{3,}", "a{2,5}", "(a|b){2,4}c*", "(a+b?){3,}", "((a{2,3}){2,3}){0,2}",
    ])
    func theCostIsWhatTheCompilerMakes(text: String) throws {
        let node = try PatternParser.parse(text)
        // One instruction more, for the match at the end.
        #expect(PatternProgram(node).instructions.count == node.cost + 1)
    }
}

@Suite struct PatternCharactersTests {
    @Test func rangesAreKeptApartAndAscending() {
        var set = PatternCharacters(["c"..."e", "a"..."a"])
        #expect(set.ranges == [97...97, 99...101])
        set.insert(98...98)
        #expect(set.ranges == [97...101])
        set.insert(103...104)
        set.insert(100...110)
        #expect(set.ranges == [97...110])
        set.formUnion(PatternCharacters(["A"..."B"]))
        #expect(set.ranges == [65...66, 97...110])
    }

    @Test func twiceInvertedIsTheSame() {
        for set in [.digits, .word, .space, .lineFeed, PatternCharacters(), PatternCharacters(["\u{0}"..."\u{10FFFF}"])]
            as [PatternCharacters]
        {
            #expect(set.inverted.inverted == set)
            for value in [0, 9, 10, 32, 48, 57, 95, 0x10_FFFF, PatternCharacters.notUTF8] as [UInt32] {
                #expect(set.contains(value) != set.inverted.contains(value))
            }
        }
    }

    @Test func lettersOfASCIIAreAddedInTheOtherCase() {
        #expect(PatternCharacters(["X"..."c"]).withoutCase.ranges == [65...67, 88...99, 120...122])
        #expect(PatternCharacters(["é"..."é"]).withoutCase.ranges == [233...233])
    }

    @Test func onlyOneCharacterIsOnlyOne() {
        #expect(PatternCharacters(["a"..."a"]).only == 97)
        #expect(PatternCharacters(["a"..."b"]).only == nil)
        #expect(PatternCharacters().only == nil)
    }
}

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
    func anEdgeIsRecognizedByItsNeighbours(before: PatternEdge.Neighbour, after: PatternEdge.Neighbour, wanted: Set<PatternEdge>) {
        let all: [PatternEdge] = [.start, .end, .wordEdge, .noWordEdge]
        #expect(Set(all.filter { $0.isAt(before: before, after: after) }) == wanted)
    }
}
