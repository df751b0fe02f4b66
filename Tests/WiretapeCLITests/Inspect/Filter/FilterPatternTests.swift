import Testing

@testable import CassetteTools
@testable import WiretapeCLI

@Suite struct FilterPatternTests {
    @Test(arguments: [
        ("pets", "http://a/PETS/1", true), ("PETS", "http://a/pets", true), ("pets", "pet", false), (#"\.png$"#, "a.PNG", true),
        (#"\.png$"#, "a.png?x", false), (#"^get|post$"#, "POST", true), (#"\d{3}"#, "a404b", true), (#"[가-힣]+"#, "이름", true),
        ("이름", "x이름y", true), ("É", "é", true), ("a.b", "a\nb", false), ("", "anything", true),
    ])
    func looksAnywhereWithoutRegardToCase(pattern: String, text: String, isFound: Bool) throws {
        #expect(try #require(FilterPattern(pattern)).matches(text) == isFound)
    }

    @Test func linesHaveTheirOwnBeginningsAndEnds() throws {
        let fields = Array("Host: a\r\nX-B: c\r\n".utf8)
        #expect(try #require(FilterPattern("^x-b: c", .lines)).matches(fields))
        #expect(try !#require(FilterPattern("^x-b: c")).matches(fields))
    }

    @Test func aDotOfABodyGoesOverLineEnds() throws {
        #expect(try #require(FilterPattern("a.b", .body)).matches("a\nb"))
    }

    @Test(arguments: ["이름", "이.", "NAM[E]"]) func textAmongOtherBytesIsFound(pattern: String) throws {
        let bytes: [UInt8] = [0xFF, 0xFE, 0x00] + Array("이름 name".utf8) + [0x80, 0xEC]
        #expect(try #require(FilterPattern(pattern, .body)).matches(bytes))
    }

    @Test(arguments: ["(", "[a", "*", "a{2,1}"]) func whatIsNoExpressionIsNone(pattern: String) {
        #expect(FilterPattern(pattern) == nil)
    }
}
