import Testing

@testable import TapeBytes

@Suite struct PatternBeginningsTests {
    private func beginnings(_ text: String) throws -> PatternBeginnings? {
        PatternBeginnings(PatternProgram(try PatternParser.parse(text)))
    }

    @Test(arguments: [
        ("abc", "xxab", 2), ("a|b", "xxb", 2), ("(?i)a", "xA", 1), (#"\b[0-9]"#, "x1", 1), ("a*b", "xab", 1), ("é", "xé", 1),
        ("^a", "xa", 1), ("a", "xyz", 3), ("a", "", 0),
    ])
    func theSearchGoesOnWhereAMatchCanBegin(text: String, input: String, wanted: Int) throws {
        let beginnings = try #require(try self.beginnings(text))
        #expect(Array(input.utf8).withUnsafeBytes { beginnings.next(in: $0, from: 0) } == wanted)
    }

    @Test(arguments: ["", "a*", ".", "[^a]", "(a|$)", #"\b"#, "a?b?"])
    func nothingIsPassedOverWhereAnythingCanBegin(text: String) throws {
        #expect(try self.beginnings(text) == nil)
    }
}
