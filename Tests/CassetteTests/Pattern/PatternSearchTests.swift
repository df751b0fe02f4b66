import Testing

@testable import TapeBytes

@Suite struct PatternSearchTests {
    @Test(
        arguments: [
            ("a.*z|b", "ab..z", 0..<5), ("a.*z|b", "ab...", 1..<2), ("a|ab|abcd", "abcx", 0..<2), ("a*", "baa", 0..<0),
            ("b+", "aabbb", 2..<5), ("x", "aaa", nil),
        ] as [(String, String, Range<Int>?)])
    func whoBeganFirstWins(text: String, input: String, wanted: Range<Int>?) throws {
        var search = PatternSearch(PatternProgram(try PatternParser.parse(text)))
        #expect(Array(input.utf8).withUnsafeBytes { search.firstRange(in: $0, from: 0, before: .nothing) } == wanted)
    }
}
