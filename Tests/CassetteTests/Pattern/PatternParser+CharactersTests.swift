import Testing

@testable import TapeBytes

@Suite struct PatternParserCharactersTests {
    private func set(_ text: String) throws -> PatternCharacters? {
        guard case .characters(let set) = try PatternParser.parse(text) else { return nil }
        return set
    }

    @Test func aClassIsTheUnionOfItsMembers() throws {
        #expect(try self.set(#"[a-c\d_-]"#)?.ranges == [45...45, 48...57, 95...95, 97...99])
        #expect(try self.set("[^a-c]")?.ranges == [0...96, 100...PatternCharacters.notUTF8])
        #expect(try self.set("(?i)[a-cZ]")?.ranges == [65...67, 90...90, 97...99, 122...122])
        #expect(try self.set("(?i)[^a]")?.contains(65) == false)
        #expect(try self.set("[[^]")?.ranges == [91...91, 94...94])
    }

    @Test func escapesMeanTheSameInAClass() throws {
        for escape in [#"\d"#, #"\W"#, #"\n"#, #"\x41"#, #"\u{1F600}"#, #"\."#, #"\\"#, #"\]"#, #"\é"#] {
            #expect(try self.set(escape) == self.set("[\(escape)]"))
        }
    }
}
