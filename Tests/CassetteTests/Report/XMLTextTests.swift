import Testing

@testable import TapeBytes

@Suite struct XMLTextTests {
    @Test(arguments: [
        ("a<b>&\"c\"'", "a&lt;b&gt;&amp;&quot;c&quot;'"), ("a\tb\nc\rd", "a&#9;b&#10;c&#13;d"), ("]]>", "]]&gt;"),
        ("\u{0}\u{1B}\u{7F}\u{85}", "\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}"), ("\u{FFFE}\u{FFFF}\u{1FFFF}", "\u{FFFD}\u{FFFD}\u{FFFD}"),
        ("이름 🐈", "이름 🐈"), ("", ""),
    ])
    func whatXMLCannotHoldIsEscapedOrReplaced(text: String, escaped: String) {
        #expect(XMLText.escape(text) == escaped)
    }
}
