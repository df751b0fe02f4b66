import Testing

@testable import TapeBytes

@Suite struct PatternProgramTests {
    @Test func edgesAreNoticed() throws {
        for (text, wanted) in [("a", false), ("^a", true), ("a$", true), (#"(a|\b)"#, true), (#"\$"#, false)] {
            #expect(PatternProgram(try PatternParser.parse(text)).hasEdges == wanted)
        }
    }

    @Test func aProgramEndsInItsOnlyMatch() throws {
        let program = PatternProgram(try PatternParser.parse("(a|b)*c{2,3}|d"))
        #expect(program.instructions.last == .match)
        #expect(program.instructions.filter { $0 == .match }.count == 1)
    }
}
