import CassetteModel
import TapeBytes
import Testing

@testable import CassetteRedaction

/// A browser refuses a script whose digest the page's policy does not have.
@Suite struct InlineScriptsTests {
    private static let old = "\nconst apiKey = \"h7nter2Xq9\";\n"
    private static let new = "\nconst apiKey = \"{{api-key:1}}\";\n"

    private func digest(_ text: String, _ checksum: BodyChecksum = .sha256) -> String {
        String(decoding: SecretCorpus.base64(checksum.value(of: Array(text.utf8))), as: UTF8.self)
    }

    private func redacted(_ page: String, _ lines: [String]) -> (body: String, lines: [String]) {
        var interaction = Interaction(
            id: 1, started: Timestamp(microseconds: 0), request: RecordedRequest(method: "GET", url: "http://h.test/"))
        interaction.response = RecordedResponse(status: 200, headers: HeaderFields(["Content-Type: text/html"] + lines))
        var request: WireBody?
        var wire: WireBody? = WireBody(Array(page.utf8))
        _ = Redactor().redact(&interaction, requestBody: &request, responseBody: &wire)
        return (String(decoding: wire?.bytes ?? [], as: UTF8.self), Array((interaction.response?.headers.lines ?? []).dropFirst()))
    }

    @Test(arguments: [BodyChecksum.sha256, .sha384, .sha512]) func aPolicyInAField(checksum: BodyChecksum) {
        let name = "\(checksum)"
        func policy(_ script: String) -> String {
            "Content-Security-Policy: script-src 'self' '\(name)-\(self.digest(script, checksum))'; style-src 'self'"
        }
        let page = { (script: String) in "<html><script>\(script)</script><script>let a = 1</script></html>" }
        let found = self.redacted(page(Self.old), [policy(Self.old)])
        #expect(found.body == page(Self.new))
        #expect(found.lines == [policy(Self.new)])
    }

    @Test func aPolicyInThePage() {
        let page = { (script: String) in
            "<html><meta http-equiv=\"Content-Security-Policy\" content=\"script-src 'sha256-\(self.digest(script))' 'sha256-\(self.digest("let a = 1"))'\"><SCRIPT type=\"module\">\(script)</SCRIPT><script>let a = 1</script></html>"
        }
        #expect(self.redacted(page(Self.old), []).body == page(Self.new))
    }

    @Test func othersStay() {
        let policy = "Content-Security-Policy: script-src 'sha256-\(self.digest("another"))'"
        let found = self.redacted("<html><script>\(Self.old)</script></html>", [policy])
        #expect(found.lines == [policy])
    }
}
