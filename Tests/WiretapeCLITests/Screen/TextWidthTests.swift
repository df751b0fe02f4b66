import Testing
@testable import WiretapeCLI

@Suite struct TextWidthTests {
    @Test(arguments: [
        ("", 0), ("pets", 4), ("이름", 4), ("漢字かなカナ", 12), ("é", 1), ("e\u{301}", 1), ("🐈", 2), ("\u{1112}\u{1161}\u{11AB}", 2), ("ｱ", 1),
        ("Ａ", 2), ("🇰🇷", 2),
        ("…", 1), ("👨\u{200D}👩", 4),
    ])
    func countsColumns(text: String, columns: Int) {
        #expect(TextWidth.columns(text) == columns)
    }

    @Test(arguments: [
        ("http://a/pets", 13, "http://a/pets"), ("http://a/pets", 12, "http:/…/pets"), ("http://a/pets", 5, "ht…ts"),
        ("http://a/pets", 2, "h…"),
        ("http://a/pets", 1, "…"), ("http://a/pets", 0, ""), ("가나다라", 8, "가나다라"), ("가나다라", 7, "가…라"), ("가나다라", 4, "가…"),
    ])
    func shortensInTheMiddle(text: String, limit: Int, shortened: String) {
        #expect(TextWidth.shortened(text, to: limit) == shortened)
    }

    @Test func aShortenedTextNeverPassesItsLimit() {
        let text = "http://호스트.example/한글/🐈/e\u{301}nd?漢=字"
        for limit in 0...TextWidth.columns(text) { #expect(TextWidth.columns(TextWidth.shortened(text, to: limit)) <= limit) }
    }

    @Test func padsByColumns() {
        #expect(TextWidth.padded("이름", to: 6) == "이름  ")
        #expect(TextWidth.padded("12", to: 4, .right) == "  12")
        #expect(TextWidth.padded("too long", to: 3) == "too long")
    }

    @Test(arguments: [
        ("one two", 7, ["one two"]), ("one two", 6, ["one", "two"]), ("a longer-word b", 3, ["a", "longer-word", "b"]), ("", 3, [""]),
        ("이름 이름 x", 9, ["이름 이름", "x"]),
    ])
    func wrapsAtBlanks(text: String, limit: Int, lines: [String]) {
        #expect(TextWidth.wrapped(text, to: limit) == lines)
    }
}
