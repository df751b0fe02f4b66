@testable import TapeBytes
import TapeTestSupport
import Testing

@Suite struct PatternParserTests {
    private static func refusal(_ text: String) -> PatternError? {
        do throws(PatternError) {
            _ = try Pattern(text)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        ("a(b", 1, "\"(\" without a \")\""), ("ab)", 2, "\")\" without a \"(\""), ("x[a", 1, "\"[\" without a \"]\""),
        ("[]", 1, "empty class"),
        ("a**", 2, "repeats a repetition"), ("a*?", 2, "shortest match"), ("a++", 2, "repeats a repetition"),
        ("a{2}{3}", 4, "repeats a repetition"),
        ("*a", 0, "nothing before \"*\""), ("a|+", 2, "nothing before \"+\""), ("({2})", 1, "nothing before \"{\""),
        ("a{x}", 1, "is not {m}"),
        ("a{,3}", 1, "is not {m}"), ("a{3,2}", 1, "whose minimum is above"), ("a{1001}", 1, "more than 1000 times"),
        ("a{1,99999999999999999999}", 1, "more than 1000"),
        (#"(a)\1"#, 3, "backreference"), ("(?=a)", 0, "lookaround"), ("(?<n>a)", 0, "begins with \"(?\""),
        ("a(?i)b", 1, "at the start of the pattern"),
        ("(?ix)a", 3, "unknown flag \"x\""), ("(?i", 0, "flags without a \")\""), (#"\q"#, 0, "not a known escape"),
        (#"\pL"#, 0, "not a known escape"),
        ("a\\", 1, "ends with \"\\\""), (#"\x4"#, 0, "not a character"), (#"\x{110000}"#, 0, "not a character"),
        (#"\x{}"#, 0, "not a character"),
        (#"\ud800"#, 0, "not a character"),
        ("[z-a]", 1, "runs backwards"), (#"[a-\d]"#, 1, "more than one character"), ("[[:alpha:]]", 1, "named class"),
        ("é(", 2, "\"(\" without"),
    ])
    func aRefusalNamesThePlaceAndTheNextStep(text: String, offset: Int, words: String) throws {
        let error = try #require(Self.refusal(text))
        #expect(error.offset == offset)
        #expect(error.message.contains(words))
        #expect(error.message.hasPrefix("pattern \"\(text)\" at character "))
        #expect(error.message.contains(": ") || error.message.contains("; "))
    }

    @Test(arguments: [
        "(a{1000}){1000}", "((a{100}){100}){100}", "a{1000}b", "(a|b|c){400}", "(((a?){99}){99}){99}", String(repeating: "a", count: 1_000),
        String(repeating: "a", count: 5_000), String(repeating: "a|", count: 900),
        String(repeating: "(", count: 101) + String(repeating: ")", count: 101),
    ])
    func expensivePatternIsRefused(text: String) throws {
        let error = try #require(Self.refusal(text))
        #expect(error.message.contains("more than") || error.message.contains("longer than"))
        #expect(error.message.utf8.count < 400)
    }

    @Test(arguments: [
        "a{999}", "(((){1000}){1000}){1000}", "(a{0}){1000}", String(repeating: "(", count: 100) + String(repeating: ")", count: 100),
        String(repeating: "a", count: 999), "(a{30}){30}",
    ])
    func patternJustWithinTheLimitsIsAccepted(text: String) {
        #expect(Self.refusal(text) == nil)
    }

    @Test func noTextMakesTheParserFail() {
        var generator = SeededGenerator(seed: 5)
        let scalars = Array("ab01(){}[]|*+?.^$\\-,:=i<sxudwbé\u{0}\n".unicodeScalars)
        for _ in 0..<rounds(20_000) {
            var text = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0..<14, using: &generator) { text.append(scalars.randomElement(using: &generator) ?? "a") }
            if let error = Self.refusal(String(text)) { #expect(error.offset <= String(text).utf8.count) }
        }
    }
}

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
