import Testing

@testable import TapeBytes

@Suite struct PatternClosureTests {
    @Test func everythingReachedIsVisitedOnce() throws {
        var closure = PatternClosure(PatternProgram(try PatternParser.parse("(a*)*b|c")))
        var taken: [Int] = []
        closure.begin()
        #expect(!closure.follow(0, before: .nothing, after: .otherCharacter) { set, _ in taken.append(set) })
        #expect(taken.sorted() == [0, 1, 2])
        #expect(!closure.follow(0, before: .nothing, after: .otherCharacter) { set, _ in taken.append(set) })
        #expect(taken.count == 3)
        closure.begin()
        #expect(!closure.follow(0, before: .nothing, after: .otherCharacter) { set, _ in taken.append(set) })
        #expect(taken.count == 6)
    }

    @Test func anEdgeStopsWhatIsNotAtIt() throws {
        var closure = PatternClosure(PatternProgram(try PatternParser.parse("^$|")))
        closure.begin()
        #expect(closure.follow(0, before: .nothing, after: .nothing) { _, _ in })
        closure = PatternClosure(PatternProgram(try PatternParser.parse("^$")))
        closure.begin()
        #expect(!closure.follow(0, before: .nothing, after: .wordCharacter) { _, _ in })
    }
}
