import Testing

@testable import CassetteModel

struct FormCharsetTests {
    private func found(_ disposition: String, _ value: String?) -> String? {
        FormCharset(HeaderFields(["Content-Disposition: \(disposition)"])) { value.map { Array($0.utf8) } }?.label
    }

    @Test func onlyTheFieldOfThatNameCounts() {
        #expect(self.found("form-data; name=\"_charset_\"", "EUC-KR") == "euc-kr")
        #expect(self.found("form-data; name=\"charset\"", "EUC-KR") == nil)
        #expect(self.found("form-data; name=\"_charset_\"; filename=a", "EUC-KR") == nil)
        #expect(self.found("form-data; name=\"_charset_\"", nil) == nil)
        #expect(self.found("form-data; name=\"_charset_\"", "") == nil)
        #expect(self.found("form-data; name=\"_charset_\"", "a b") == nil)
        #expect(self.found("form-data; name=\"_charset_\"", String(repeating: "a", count: 41)) == nil)
        #expect(FormCharset(HeaderFields()) { [65] } == nil)
    }

    @Test func aBodyHasTheFirst() throws {
        let field = "\r\nContent-Disposition: form-data; name=\"_charset_\"\r\n\r\n"
        let bytes = Array("--X\r\n\r\na\r\n--X\(field)EUC-KR\r\n--X\(field)latin1\r\n--X--\r\n".utf8)
        let body = try #require(try MultipartFixture.body(bytes))
        #expect(body.formCharset { Array(bytes[$0]) }?.label == "euc-kr")
        #expect(body.formCharset { _ in nil } == nil)
        #expect(body.mapData { PartContent.text(Array(bytes[$0])) }.formCharset?.label == "euc-kr")
        #expect(body.mapData { PartContent.binary(Array(bytes[$0])) }.formCharset == nil)
    }
}
