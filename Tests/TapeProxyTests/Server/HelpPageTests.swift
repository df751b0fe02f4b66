import Testing
@testable import TapeProxy

@Suite struct HelpPageTests {
    @Test func aReaderGetsThePageAndAnyoneElseAnError() {
        #expect(HelpPage.answer(address: "127.0.0.1:7070", method: "GET").text.contains("http_proxy=http://127.0.0.1:7070 "))
        #expect(HelpPage.answer(address: "127.0.0.1:7070", method: "GET").text.contains(" http://127.0.0.1:7070/http://example.com/"))
        #expect(HelpPage.answer(address: "a:1", method: "HEAD").status == 200)
        #expect(HelpPage.answer(address: "a:1", method: "DELETE").status == 400)
    }
}
