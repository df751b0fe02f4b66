import TapeTestSupport
@testable import TapeTrust
import TapeBytes
import Testing

@Suite struct HostPatternTests {
    private struct Row: Sendable, CustomTestStringConvertible {
        var pattern: String
        var matching: [String]
        var others: [String]
        var testDescription: String { self.pattern }

        init(_ pattern: String, _ matching: [String], not others: [String]) {
            self.pattern = pattern
            self.matching = matching
            self.others = others
        }
    }

    private static let table = [
        Row("example.com", ["example.com", "EXAMPLE.com", "example.com."], not: ["a.example.com", "example.co", "xexample.com", ""]),
        Row("Example.COM.", ["example.com"], not: ["com"]),
        Row(
            "*.example.com", ["a.example.com", "A.B.example.com."],
            not: ["example.com", "aexample.com", ".example.com", "example.com.evil.test"]),
        Row("*", ["example.com", "192.0.2.1", "[::1]", "::1"], not: []),
        Row("192.0.2.1", ["192.0.2.1", "::ffff:192.0.2.1", "[::ffff:c000:201]"], not: ["192.0.2.10", "a.192.0.2.1", "192.0.2.1."]),
        Row("[::1]", ["::1", "[::1]", "0:0:0:0:0:0:0:1", "[0::0001]"], not: ["::2", "127.0.0.1"]),
        Row("2001:DB8::1", ["2001:db8:0::1"], not: ["2001:db8::2"]),
        Row("한국.example", ["xn--3e0b707e.example", "XN--3E0B707E.Example", "한국.EXAMPLE"], not: ["한국.test"]),
        Row("*.bücher.example", ["www.xn--bcher-kva.example"], not: ["xn--bcher-kva.example", "www.bucher.example"]),
        Row("my_service.local", ["my_service.local"], not: ["my-service.local"]),
    ]

    @Test(arguments: Self.table)
    private func hostsAreComparedAsTheyAreMeant(row: Row) throws {
        let pattern = try HostPattern(row.pattern)
        #expect(row.matching.filter { !pattern.matches(host: $0, port: 443) } == [])
        #expect(row.others.filter { pattern.matches(host: $0, port: 443) } == [])
        #expect(pattern.description == row.pattern)
    }

    @Test(arguments: ["example.com:8443", "*.com:8443", "*:8443"])
    func aPortIsTheOnlyOne(text: String) throws {
        let pattern = try HostPattern(text)
        #expect(pattern.port == 8443)
        #expect(pattern.matches(host: "example.com", port: 8443))
        #expect(!pattern.matches(host: "example.com", port: 443))
    }

    @Test func addressesHavePortsToo() throws {
        #expect(try HostPattern("[::1]:8443").matches(host: "::1", port: 8443))
        #expect(try !HostPattern("[::1]:8443").matches(host: "::1", port: 443))
        #expect(try HostPattern("127.0.0.1:1").matches(host: "127.0.0.1", port: 1))
        #expect(try HostPattern("::1").port == nil)
    }

    @Test func patternsAreEqualByTheirText() throws {
        #expect(try HostPattern("a.test") == HostPattern("a.test"))
        #expect(try HostPattern("a.test") != HostPattern("a.test:1"))
    }

    @Test(arguments: [
        "", ".", "a..b", ".a", "*.", "*.*.a", "a.*", "a*.b", "*a", "a b", "a:", "a:0", "a:65536", "a:+1", "a:x", "a:1:2", "[::1", "[::1]x",
        "[::1]:",
        "[a.test]", "[192.0.2.1]", "1.2.3", "1.2.3.256", "1.2.3.4.5", "::1::", "https://a.test", "a.test/x", "fe80::1%eth0", "☃.net",
        "ａ.test", "a\u{0}",
        "a@b", "日本。jp",
    ])
    func invalidPatternIsRefused(text: String) {
        #expect(throws: SettingSyntaxError.self) { try HostPattern(text) }
    }

    @Test func aRefusalNamesThePatternAndTheNextStep() {
        let next = "; write a name such as example.com, *.example.com, an address or *, with an optional port as in example.com:8443"
        #expect(throws: SettingSyntaxError("\"https://a/\" is more than a host: leave out scheme and path" + next)) {
            try HostPattern("https://a/")
        }
        #expect(throws: SettingSyntaxError("the host pattern \"a:x\" has no port from 1 to 65535 after its host" + next)) {
            try HostPattern("a:x")
        }
        #expect(
            throws: SettingSyntaxError("the host pattern \"*.a!\" is not valid: \"a!\" has characters that host names cannot have" + next)
        ) {
            try HostPattern("*.a!")
        }
    }

    @Test func anyTextIsReadWithoutATrap() {
        var generator = SeededGenerator(seed: 5)
        let pieces = [
            "*", ".", ":", "[", "]", "a", "1", "::", "한", "ü", "u\u{308}", "\u{0}", "-", "%", "65536", "xn--", "\u{1F600}", "ᄒ", "ᅡ",
        ]
        for _ in 0..<rounds(20_000) {
            let text = (0..<Int.random(in: 0...8, using: &generator)).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            guard let pattern = try? HostPattern(text) else { continue }
            _ = pattern.matches(host: text, port: 443)
        }
    }
}
