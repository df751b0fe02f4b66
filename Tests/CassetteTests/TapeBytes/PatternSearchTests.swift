@testable import TapeBytes
import Testing

@Suite struct PatternSearchTests {
    @Test(
        arguments: [
            ("a.*z|b", "ab..z", 0..<5), ("a.*z|b", "ab...", 1..<2), ("a|ab|abcd", "abcx", 0..<2), ("a*", "baa", 0..<0),
            ("b+", "aabbb", 2..<5), ("x", "aaa", nil),
        ] as [(String, String, Range<Int>?)])
    func earliestStartWins(text: String, input: String, wanted: Range<Int>?) throws {
        var search = PatternSearch(PatternProgram(try PatternParser.parse(text)))
        #expect(Array(input.utf8).withUnsafeBytes { search.firstRange(in: $0, from: 0, before: .nothing) } == wanted)
    }
}

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
