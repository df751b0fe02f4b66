import CassetteModel
import TapeBytes
import Testing

@testable import CassetteRedaction

/// A browser refuses a script whose digest is not in the page's policy.
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

    /// Templates of Go and ASP.NET write the letters of base64 so.
    @Test(arguments: [("&#43;", "&#47;", "&#61;"), ("&#x2B;", "&#x2F;", "&#x3D;")])
    func aPolicyWithEntities(plus: String, slash: String, equals: String) {
        func page(_ script: String, _ digest: String) -> String {
            "<html><meta http-equiv=\"Content-Security-Policy\" content=\"script-src &#39;sha512-\(digest)&#39;\"><script>\(script)</script></html>"
        }
        let old = self.digest(Self.old, .sha512).replacing("/", with: slash).replacing("=", with: equals).replacing("+", with: plus)
        #expect(self.redacted(page(Self.old, old), []).body == page(Self.new, self.digest(Self.new, .sha512)))
    }

    /// With 'unsafe-hashes', a policy lists the texts of attributes as well, without their entities.
    @Test(arguments: [
        ("<button onclick='$'>", "go({apiKey: \"#\"})", "go({apiKey: \"#\"})"),
        ("<body class=a onload=\"$\">", "go({apiKey: &quot;#&quot;})", "go({apiKey: \"#\"})"),
        ("<p STYLE='$'>", "--api-key: \"#\"", "--api-key: \"#\""),
        ("<a href='$'>", "javascript:go({apiKey: \"#\"})", "go({apiKey: \"#\"})"),
        ("<a href='$'>", "javascript:go({apiKey: \"#\"})", "javascript:go({apiKey: \"#\"})"),
        ("<a href='$'>", "JavaScript:go(%20{apiKey: \"#\"})", "go( {apiKey: \"#\"})"),
    ]) func aPolicyForAttributes(tag: String, written: String, hashed: String) {
        func page(_ secret: String) -> String { tag.replacing("$", with: written.replacing("#", with: secret)) + "<p>text</p>" }
        func policy(_ secret: String) -> String {
            "Content-Security-Policy: script-src 'unsafe-hashes' 'sha256-\(self.digest(hashed.replacing("#", with: secret)))'"
        }
        let found = self.redacted(page("h7nter2Xq9"), [policy("h7nter2Xq9")])
        #expect(found.body == page("{{api-key:1}}") && found.lines == [policy("{{api-key:1}}")])
    }

    /// Its scripts are not looked at.
    @Test(arguments: [
        ("text/html", "Content-Security-Policy: script-src 'sha256-abc='", "", true),
        ("text/html", "X-A: b", "<meta content=\"script-src 'sha512-abc='\">", true),
        ("text/html", "Content-Security-Policy: script-src 'self'", "", false), ("text/css", "X-A: b", "sha256-", false),
    ]) func aPageTooLargeForMemoryIsNoted(type: String, field: String, meta: String, isNoted: Bool) throws {
        var (headers, trailers, arrival) = (HeaderFields(["Content-Type: \(type)", field]), HeaderFields?.none, Arrival?.none)
        var outcome = RedactionOutcome()
        let page = String(repeating: "x", count: 70_000) + meta
        try Redactor().fit(
            &headers, &trailers, arrival: &arrival, from: ByteSource(Array(page.utf8)), to: ByteSource(Array(page.utf8)), outcome: &outcome)
        #expect(
            outcome.notes
                == (isNoted ? ["a content security policy may list digests that no longer fit the scripts of the redacted page"] : []))
    }

    /// A browser reads the charset from the page, or assumes windows-1252.
    @Test(arguments: ["", "<meta charset=\"iso-8859-1\">", "<meta http-equiv=content-type content='text/html; charset=Windows-1252'>"])
    func aCharsetThatOnlyThePageDeclares(declaration: String) {
        func script(_ secret: String) -> String { "const apiKey = \"\(secret)\"; // é" }
        func policy(_ text: String) -> String { "Content-Security-Policy: script-src 'sha256-\(self.digest(text))'" }
        let (old, new) = (script("h7nter2Xq9"), script("{{api-key:1}}"))
        var response = RecordedResponse(status: 200, headers: HeaderFields(["Content-Type: text/html", policy(old)]))
        var wire: WireBody? = WireBody("<html>\(declaration)<script>\(old)</script></html>".unicodeScalars.map { UInt8($0.value) })
        _ = Redactor().redact(response: &response, body: &wire)
        #expect(response.headers.lines.last == policy(new))
    }

    /// A browser hashes UTF-8 with line feeds.
    @Test(arguments: [("", "\r\n"), ("; charset=ISO-8859-1", "\n"), ("; charset=windows-1252", "\r\n"), ("", "\r")])
    func digestIsOverTheBytesThatABrowserHashes(charset: String, lineEnd: String) {
        func script(_ secret: String) -> String { "\nconst apiKey = \"\(secret)\"; // \(charset.isEmpty ? "보리" : "é")\n" }
        func sent(_ text: String) -> [UInt8] {
            let text = "<html><script>\(text)</script></html>".replacing("\n", with: lineEnd)
            return charset.isEmpty ? Array(text.utf8) : text.unicodeScalars.map { UInt8($0.value) }
        }
        func policy(_ text: String) -> String { "Content-Security-Policy: script-src 'sha256-\(self.digest(text))'" }
        let (old, new) = (script("h7nter2Xq9"), script("{{api-key:1}}"))
        var response = RecordedResponse(status: 200, headers: HeaderFields(["Content-Type: text/html\(charset)", policy(old)]))
        var wire: WireBody? = WireBody(sent(old))
        _ = Redactor().redact(response: &response, body: &wire)
        #expect(wire?.bytes == sent(new))
        #expect(response.headers.lines.last == policy(new))
    }

    @Test func aPolicyInTheURLSafeAlphabet() {
        for number in 0..<20 {
            let (old, new) = ("const apiKey = \"h7nter2Xq\(number)\";", "const apiKey = \"{{api-key:1}}\";")
            func policy(_ text: String) -> String {
                "Content-Security-Policy: script-src 'sha256-\(self.digest(text).replacing("+", with: "-").replacing("/", with: "_"))'"
            }
            // Without a special character, the old digest fits both alphabets.
            guard policy(old).dropFirst(44).contains(where: { "-_".contains($0) }) else { continue }
            #expect(self.redacted("<html><script>\(old)</script></html>", [policy(old)]).lines == [policy(new)])
        }
    }

    @Test func othersStay() {
        let policy = "Content-Security-Policy: script-src 'sha256-\(self.digest("another"))'"
        let found = self.redacted("<html><script>\(Self.old)</script></html>", [policy])
        #expect(found.lines == [policy])
    }
}
