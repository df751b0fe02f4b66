@testable import TapeBytes
import TapeTestSupport
import Testing

@Suite struct PlainTextTests {
    @Test(arguments: [
        ("http://a.test/ü", "http://a.test/ü"),
        ("a\"b\\c", "a\\\"b\\\\c"),
        ("a\r\nb\tc", "a\\r\\nb\\tc"),
        ("\u{1B}[31m\u{0}\u{7F}\u{85}", "\\u{1b}[31m\\u{0}\\u{7f}\\u{85}"),
        ("\u{202E}x\u{2066}\u{2028}\u{200B}", "\\u{202e}x\\u{2066}\\u{2028}\\u{200b}"),
        ("", ""),
    ])
    func escapesWhatIsNotPlain(text: String, expected: String) {
        #expect(PlainText.escape(Array(text.utf8), limit: 100) == expected)
    }

    @Test func bytesOutsideUTF8ShowAsReplacements() {
        #expect(PlainText.escape([0x61, 0xFF, 0x62], limit: 100) == "a\u{FFFD}b")
    }

    @Test func longTextIsCutBetweenCharacters() {
        #expect(PlainText.escape(Array("abcdef".utf8), limit: 6) == "abcdef")
        #expect(PlainText.escape(Array("abcdefg".utf8), limit: 6) == "abcdef…")
        #expect(PlainText.escape(Array("äöüß".utf8), limit: 5) == "äö…")
        #expect(PlainText.escape(Array("abcd\u{1B}".utf8), limit: 6) == "abcd…")
    }

    @Test func neverLongerThanTheLimitAndNeverAControlCharacter() {
        var generator = SeededGenerator(seed: 4)
        for _ in 0..<500 {
            let bytes = (0..<60).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let text = PlainText.escape(bytes, limit: 32)
            #expect(text.utf8.count <= 32 + "…".utf8.count)
            #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) })
        }
    }
}

@Suite struct XMLTextTests {
    @Test(arguments: [
        ("a<b>&\"c\"'", "a&lt;b&gt;&amp;&quot;c&quot;'"), ("a\tb\nc\rd", "a&#9;b&#10;c&#13;d"), ("]]>", "]]&gt;"),
        ("\u{0}\u{1B}\u{7F}\u{85}", "\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}"), ("\u{FFFE}\u{FFFF}\u{1FFFF}", "\u{FFFD}\u{FFFD}\u{FFFD}"),
        ("이름 🐈", "이름 🐈"), ("", ""),
    ])
    func charactersThatXMLForbidsAreEscapedOrReplaced(text: String, escaped: String) {
        #expect(XMLText.escape(text) == escaped)
    }
}
