@testable import CassettePlayback
@testable import CassetteRedaction
import TapeTestSupport
import Testing

struct MatchMarkTests {
    private func replaced(_ text: String) -> String {
        Array(text.utf8).withUnsafeBytes { MatchMark.replaced(in: $0) }.map { String(decoding: $0, as: UTF8.self) } ?? text
    }

    @Test(arguments: [
        ("Bearer {{authorization:1}}", "Bearer {{*}}"), ("{{a:1}}{{b:22}}x{{c-d_e.f:333}}", "{{*}}{{*}}x{{*}}"), ("{{{a:1}}", "{{{*}}"),
        ("%7B%7bjwt%3a1%7D%7d", "{{*}}"), ("{{a:1}", "{{a:1}"), ("{{a}}", "{{a}}"), ("{{:1}}", "{{:1}}"), ("{{a:x}}", "{{a:x}}"),
        ("{{a b:1}}", "{{a b:1}}"), ("100%", "100%"), ("%7", "%7"), ("", ""), ("{{*}}", "{{*}}"),
        ("{{\(String(repeating: "k", count: 64)):1234567890}}", "{{*}}"),
        ("{{\(String(repeating: "k", count: 65)):1}}", "{{\(String(repeating: "k", count: 65)):1}}"),
        ("{{a:12345678901}}", "{{a:12345678901}}"),
    ]) func placeholdersBecomeMarks(text: String, expected: String) {
        #expect(self.replaced(text) == expected)
    }

    @Test func marksAreFound() {
        func isIn(_ text: String) -> Bool { Array(text.utf8).withUnsafeBytes { MatchMark.isIn($0) } }
        #expect(isIn("{{*}}") && isIn("a{{{*}}b") && isIn("{{*{{*}}"))
        #expect(!isIn("") && !isIn("{{*}") && !isIn("{{a:1}}"))
    }

    /// A recorded key, a live one, and whether they match.
    @Test(arguments: [
        ("GET http://a/?k={{*}}", "GET http://a/?k=abc", true), ("GET http://a/?k={{*}}", "GET http://a/?k=", false),
        ("GET http://a/?k={{*}}", "GET http://a/?k=a&b=1", false), ("GET http://a/?k={{*}}&z=1", "GET http://a/?k=a=/b?&z=1", true),
        ("GET http://a/u/{{*}}/x", "GET http://a/u/7/x", true), ("GET http://a/u/{{*}}/x", "GET http://a/u/7/8/x", false),
        ("GET http://{{*}}@a/", "GET http://u:p@a/", true), ("GET http://a/x{{*}}y{{*}}z", "GET http://a/x1yy2z", true),
        ("GET http://a/x{{*}}y{{*}}z", "GET http://a/xyz", false), ("GET http://a/\na: {{*}}", "GET http://a/\na: b/c&d", true),
        ("GET http://a/\na: {{*}}", "GET http://a/\na: b\nc: d", false), ("GET http://a/{{*}}", "POST http://a/b", false),
        ("GET http://a/?k={{*}}", "GET http://a/?k={{*}}", true), ("GET http://a/", "GET http://a/", true),
        ("GET http://a/", "GET http://a/b", false),
    ]) func aRecordedMarkMatchesTextWithinItsField(recorded: String, live: String, expected: Bool) {
        let fits = Array(recorded.utf8).withUnsafeBytes { recorded in
            Array(live.utf8).withUnsafeBytes { MatchMark.headKey(recorded, fits: $0) }
        }
        #expect(fits == expected)
    }

    /// Only marks are wildcards in a pattern: the original texts match again.
    @Test func originalTextOfMarksMatches() {
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<500 {
            var recorded: [UInt8] = []
            var live: [UInt8] = []
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let word = (0..<Int.random(in: 1...4, using: &generator)).map { _ in UInt8.random(in: 97...99, using: &generator) }
                recorded += Bool.random(using: &generator) ? MatchMark.bytes : word
                live += word
            }
            let fits = recorded.withUnsafeBytes { recorded in live.withUnsafeBytes { MatchMark.value(recorded, fits: $0) } }
            #expect(fits, "\(String(decoding: recorded, as: UTF8.self)) \(String(decoding: live, as: UTF8.self))")
        }
    }

    @Test func hostileMarksTakeNoLongTime() {
        let recorded = Array(String(repeating: "{{*}}a", count: 2000).utf8) + [98]
        let live = [UInt8](repeating: 97, count: 20_000)
        let fits = recorded.withUnsafeBytes { recorded in live.withUnsafeBytes { MatchMark.value(recorded, fits: $0) } }
        #expect(!fits)
    }
}

@Suite struct FindingDecodingTests {
    @Test(arguments: [
        (Finding.Spelling.plain, "a%41+", "a%41+"), (.json, #"a\u0041\n"#, "aA\n"), (.query, "a%41+", "aA+"), (.form, "a%41+", "aA "),
        (.number, "12", "12"),
    ])
    func valuesLoseTheirEscapes(spelling: Finding.Spelling, text: String, plain: String) {
        let decoded = Array(text.utf8).withUnsafeBytes { spelling.decode($0) }
        #expect(decoded.map { String(decoding: $0, as: UTF8.self) } == plain)
    }
}

struct MarkFilterTests {
    private func filtered(_ pieces: [[UInt8]]) -> (text: String, hasMarks: Bool) {
        var filter = MarkFilter()
        var output: [UInt8] = []
        for piece in pieces { piece.withUnsafeBytes { filter.push($0) { output += $0 } } }
        filter.finish { output += $0 }
        return (String(decoding: output, as: UTF8.self), filter.hasMarks)
    }

    @Test func marksDoNotDependOnCuts() {
        let text = Array("a{{b:1}}{{{c:2}}%7B%7Bd%3A3%7D%7D 5%7 {{".utf8)
        for first in 0...text.count {
            for second in first...text.count {
                let filtered = self.filtered([Array(text[..<first]), Array(text[first..<second]), Array(text[second...])])
                #expect(filtered.text == "a{{*}}{{{*}}{{*}} 5%7 {{")
                #expect(filtered.hasMarks)
            }
        }
        #expect(self.filtered(text.map { [$0] }).text == "a{{*}}{{{*}}{{*}} 5%7 {{")
    }

    /// In binary content, a secret of 13 bytes becomes `{{a:1}}******`.
    @Test func paddingBelongsToItsPlaceholder() {
        let text = Array("*{{b:1}}******{{c:2}}*-*".utf8)
        for first in 0...text.count {
            for second in first...text.count {
                let filtered = self.filtered([Array(text[..<first]), Array(text[first..<second]), Array(text[second...])])
                #expect(filtered.text == "*{{*}}{{*}}-*")
            }
        }
        #expect(self.filtered([Array("{{b:1}}".utf8), [], Array("**".utf8)]).text == "{{*}}")
    }

    @Test func otherBytesPassAsTheyAre() {
        #expect(self.filtered([]) == ("", false))
        #expect(self.filtered([Array("{{a}}{{{%".utf8)]) == ("{{a}}{{{%", false))
    }

    /// The scan looks at each brace once, whatever follows it.
    @Test func bracesWithoutEndTakeLinearTime() {
        let braces = [UInt8](repeating: UInt8(ascii: "{"), count: 1 << 18)
        #expect(self.filtered(Array(repeating: braces, count: 4)).text.utf8.count == 1 << 20)
        #expect(self.filtered([Array(String(repeating: "%70", count: 100_000).utf8)]).hasMarks == false)
    }
}

struct PlaceholderReaderTests {
    private func read(_ text: String, at start: Int = 0) -> MatchMark.Finding {
        Array(text.utf8).withUnsafeBytes { bytes in
            var reader = PlaceholderReader(bytes, at: start)
            return reader.read()
        }
    }

    @Test func readsOneWhereItStands() {
        #expect(self.read("{{a:1}}b") == .placeholder(end: 7))
        #expect(self.read("x{{a:1}}", at: 1) == .placeholder(end: 8))
        #expect(self.read("{{a;1}}") == MatchMark.Finding.none)
    }

    @Test(arguments: ["{{authorization:12}}", "%7B%7Bauthorization%3A12%7D%7D"]) func anyBeginningNeedsMore(text: String) {
        for count in 0..<text.utf8.count { #expect(self.read(String(text.prefix(count))) == .needsMore, "\(count)") }
        #expect(self.read(text) == .placeholder(end: text.utf8.count))
    }
}
