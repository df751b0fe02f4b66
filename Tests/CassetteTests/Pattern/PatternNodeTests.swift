import Testing

@testable import TapeBytes

@Suite struct PatternNodeTests {
    @Test(arguments: [
        "", "a", "^", "abc", "a|b|cd", "a*", "a+", "a?", "a{3}", "a{3,}", "a{2,5}", "(a|b){2,4}c*", "(a+b?){3,}", "((a{2,3}){2,3}){0,2}",
    ])
    func theCostIsWhatTheCompilerMakes(text: String) throws {
        let node = try PatternParser.parse(text)
        // One more for the match at the end.
        #expect(PatternProgram(node).instructions.count == node.cost + 1)
    }
}
