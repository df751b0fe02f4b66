import TapeTestSupport
import Testing

@testable import CassettePlayback

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

    /// A recorded key, a live one, and whether they fit.
    @Test(arguments: [
        ("GET http://a/?k={{*}}", "GET http://a/?k=abc", true), ("GET http://a/?k={{*}}", "GET http://a/?k=", false),
        ("GET http://a/?k={{*}}", "GET http://a/?k=a&b=1", false), ("GET http://a/?k={{*}}&z=1", "GET http://a/?k=a=/b?&z=1", true),
        ("GET http://a/u/{{*}}/x", "GET http://a/u/7/x", true), ("GET http://a/u/{{*}}/x", "GET http://a/u/7/8/x", false),
        ("GET http://{{*}}@a/", "GET http://u:p@a/", true), ("GET http://a/x{{*}}y{{*}}z", "GET http://a/x1yy2z", true),
        ("GET http://a/x{{*}}y{{*}}z", "GET http://a/xyz", false), ("GET http://a/\na: {{*}}", "GET http://a/\na: b/c&d", true),
        ("GET http://a/\na: {{*}}", "GET http://a/\na: b\nc: d", false), ("GET http://a/{{*}}", "POST http://a/b", false),
        ("GET http://a/?k={{*}}", "GET http://a/?k={{*}}", true), ("GET http://a/", "GET http://a/", true),
        ("GET http://a/", "GET http://a/b", false),
    ]) func aRecordedMarkStandsForTextWithinItsField(recorded: String, live: String, expected: Bool) {
        let fits = Array(recorded.utf8).withUnsafeBytes { recorded in
            Array(live.utf8).withUnsafeBytes { MatchMark.headKey(recorded, fits: $0) }
        }
        #expect(fits == expected)
    }

    /// Marks are the only wild thing in a pattern: what they stood for is found again.
    @Test func whatMarksStoodForFits() {
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
