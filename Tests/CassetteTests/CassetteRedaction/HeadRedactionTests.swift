@testable import CassetteModel
@testable import CassetteRedaction
import Testing

@Suite struct HeadRedactionTests {
    private let head = HeadRedaction(text: TextRedaction(rules: .standard, vault: SecretVault()))

    @Test func namesAndOtherLinesStayAsTheyAre() {
        var fields = HeaderFields(["x-api-KEY:   abc123def  ", "A: b"])
        #expect(self.head.redact(&fields) == 1)
        #expect(fields.lines == ["x-api-KEY:   {{api-key:1}}  ", "A: b"])
    }

    @Test func headWithoutSecretsIsUnchanged() {
        var fields = HeaderFields(["A: b"])
        #expect(self.head.redact(&fields) == 0)
        #expect(self.head.redacted(url: "https://e.com/a?b=c") == nil)
    }

    @Test(arguments: [
        ["X-Info: {\"token\": \"abc", "Authorization: Bearer s3cret-0123", "If-None-Match: \"x\""],
        ["X-Info: <token>abc", "Authorization: Bearer s3cret-0123", "X-End: </token>"],
    ])
    func secretsDoNotExtendOverLineEnds(lines: [String]) {
        var fields = HeaderFields(lines)
        #expect(self.head.redact(&fields) == 1)
        #expect(fields.lines == [lines[0], "Authorization: Bearer {{authorization:1}}", lines[2]])
    }
}
