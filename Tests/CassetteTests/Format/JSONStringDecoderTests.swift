import Testing

@testable import TapeBytes

@Suite struct JSONStringDecoderTests {
    private func decoded(_ text: String) -> String? {
        JSONStringDecoder.decode(Array(text.utf8)[...]).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func escapesAreDecoded() {
        #expect(self.decoded(#"a\"\\\/\b\f\n\r\tb"#) == "a\"\\/\u{8}\u{C}\n\r\tb")
        #expect(self.decoded(#"\u0041\u00e9\uAc00\ud83d\ude00\u0000"#) == "Aé가😀\u{0}")
    }

    @Test(arguments: [#"\ud800"#, #"\udc00"#, #"\ud800a"#, #"\ud800\u0041"#, #"\ud800\ud800"#, #"\u12"#, #"\x"#, "\\", #"\ud83d\ude0"#])
    func whatIsNoCharacterIsRefused(_ text: String) {
        #expect(self.decoded(text) == nil)
    }
}
