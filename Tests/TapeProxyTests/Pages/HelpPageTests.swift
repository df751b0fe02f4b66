@testable import TapeProxy
import Testing

@Suite struct HelpPageTests {
    @Test func aReaderGetsThePageAndAnyoneElseAnError() {
        #expect(HelpPage.answer(address: "127.0.0.1:7070", method: "GET").text.contains("http_proxy=http://127.0.0.1:7070 "))
        #expect(HelpPage.answer(address: "127.0.0.1:7070", method: "GET").text.contains(" http://127.0.0.1:7070/http://example.com/"))
        #expect(HelpPage.answer(address: "a:1", method: "HEAD").status == 200)
        #expect(HelpPage.answer(address: "a:1", method: "DELETE").status == 400)
    }
}

@Suite struct HTMLTests {
    @Test func textIsEscapedAndMarkupIsNot() {
        let text = "<script>\"a\" & 'b'</script>"
        let inner: HTML = "<b>\(text)</b>"
        #expect(inner.markup == "<b>&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;&lt;/script&gt;</b>")
        let outer: HTML = "<p title=\"\(text)\">\(inner) \(7)</p>"
        #expect(
            outer.markup == "<p title=\"&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;&lt;/script&gt;\">\(inner.markup) 7</p>")
    }

    @Test func aMarkIsEscapedWithItsCombiningCharacters() {
        let html: HTML = "\("<\u{301}script>보리")"
        #expect(Array(html.markup.unicodeScalars) == Array("&lt;\u{301}script&gt;보리".unicodeScalars))
    }

    @Test func piecesStandInLines() {
        #expect(HTML(joining: ["<i></i>", "\("<")"]).markup == "<i></i>\n&lt;")
        #expect(HTML(joining: []).markup == "")
    }
}
