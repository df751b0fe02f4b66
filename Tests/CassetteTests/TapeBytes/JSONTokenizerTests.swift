@testable import TapeBytes
import Testing

@Suite struct JSONTokenizerTests {
    private func isJSON(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var tokenizer = JSONTokenizer(bytes)
            while let token = tokenizer.next() {
                if token.kind == .end { return true }
            }
            return false
        }
    }

    private func reason(_ text: String) -> String? {
        Array(text.utf8).withUnsafeBytes { bytes in
            var tokenizer = JSONTokenizer(bytes)
            while let token = tokenizer.next() {
                if token.kind == .end { return nil }
            }
            return "\(tokenizer.error.line):\(tokenizer.error.offset) \(tokenizer.error.reason)"
        }
    }

    @Test(arguments: [
        "1", " [ ] ", "{}", "[1,2]", #"{"a":{"b":[true,false,null]},"a":1}"#, "-0.5e+10", "0", "-0", "1E5",
        #""\u00e9\"\\\/\b\f\n\r\t\ud800""#, "\t\n\r 1\t",
        "\"\u{7F}\"", "[[],[{}]]",
    ])
    func everythingTheStandardAllowsIsTaken(_ text: String) {
        #expect(self.reason(text) == nil)
    }

    @Test(arguments: [
        "", " ", "[", "]", "{", "}", "[1,]", "[,1]", "[1 2]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{1:2}", "{a:1}", "[1]]", "1 2", "01",
        "-", "-a", "+1", ".5", "1.",
        "1.e5", "1e", "1e+", "0x1", "NaN", "tru", "truee", "nul", "True", "'a'", "\"a", "\"\\", "\"\\u12\"", "\"\\u12g4\"", "\"\\x\"",
        "\"\t\"", "\"\n\"", "[1}", "{\"a\":1]",
        "//", "[1/**/]", "\u{FEFF}1", "\u{B}1", "\"a\":1", "[:]", "{,}", "[\"a\":1]", "\u{0}", "1\u{0}",
    ])
    func everythingElseIsRefused(_ text: String) {
        #expect(self.reason(text) != nil)
    }

    @Test func anErrorNamesItsPlace() {
        #expect(self.reason("[1,\n 2\n 3]") == "3:8 expected ',' or ']'")
        #expect(self.reason("{\"a\" 1}") == "1:5 expected ':'")
        #expect(self.reason("[\"a\nb\"]") == "1:3 expected an escape in place of a raw control character")
    }

    @Test func depthIsLimited() {
        func nested(_ depth: Int) -> [UInt8] {
            Array((String(repeating: "[{\"a\":", count: depth) + "1" + String(repeating: "}]", count: depth)).utf8)
        }
        #expect(self.isJSON(nested(64)))
        #expect(!self.isJSON(nested(65)))
        #expect(!self.isJSON(Array(repeating: UInt8(ascii: "["), count: 1_000_000)))
    }

    @Test func kindsOfOpenContainersSurviveDepth() {
        // Beyond 64 levels, the kinds move into the second word and back.
        let text = String(repeating: "[", count: 60) + String(repeating: "{\"a\":", count: 60) + "1" + String(repeating: "}", count: 60)
        #expect(self.isJSON(Array((text + String(repeating: "]", count: 60)).utf8)))
        #expect(!self.isJSON(Array((text + "}" + String(repeating: "]", count: 59)).utf8)))
    }
}
