import CassetteStore
import Foundation
@testable import TapeProxy
import Testing

@Suite struct MagicHostTests {
    private func answer(
        _ target: String, method: String = "GET", isSecure: Bool = false, status: MagicStatus = MagicFixtures.status()
    ) -> ProxyAnswer {
        MagicHost().answer(method: method, target: target, isSecure: isSecure, status: status)
    }

    @Test(arguments: ["/", "", "/?a=b", "?a"])
    func thePageIsAtTheRoot(target: String) {
        let answer = self.answer(target)
        #expect(answer.status == 200)
        #expect(answer.contentType == "text/html; charset=utf-8")
        #expect(answer.text.contains("<h1>Traffic flows</h1>"))
        #expect(answer.fields.contains { $0 == ("Content-Security-Policy", MagicPage.contentSecurityPolicy) })
    }

    @Test(arguments: [
        ("/ca.pem", "application/x-pem-file", MagicFixtures.authority.pem),
        ("/ca.crt", "application/x-x509-ca-cert", MagicFixtures.authority.der),
        ("/ca.der", "application/x-x509-ca-cert", MagicFixtures.authority.der),
        ("/ca.p12", "application/x-pkcs12", MagicFixtures.authority.p12),
    ])
    func theCertificateIsAFileInEachFormat(path: String, type: String, body: [UInt8]) {
        let answer = self.answer(path)
        #expect(answer.status == 200)
        #expect(answer.contentType == type)
        #expect(answer.body == body)
        #expect(answer.fields.contains { $0 == ("Content-Disposition", "attachment; filename=\"wiretape-\(path.dropFirst())\"") })
    }

    @Test(arguments: ["/ca.pem", "/ca.crt", "/ca.der", "/ca.p12"])
    func withoutAnAuthorityThereIsNoCertificate(path: String) {
        let answer = self.answer(path, status: MagicFixtures.status(authority: nil))
        #expect(answer.status == 404)
        #expect(answer.text == "this proxy does not intercept HTTPS and has no CA: see \"http://wiretape.test/\".")
    }

    @Test func theStatusIsJSON() {
        let answer = self.answer("/status.json")
        #expect(answer.contentType == "application/json")
        #expect(answer.body == MagicFixtures.status().json)
    }

    @Test func onlyHTTPSProvesTrust() {
        let secure = self.answer("/trusted.svg", isSecure: true)
        #expect(secure.status == 200)
        #expect(secure.contentType == "image/svg+xml")
        #expect(secure.text.contains(">trusted</text>"))
        let plain = self.answer("/trusted.svg")
        #expect(plain.status == 404)
        #expect(plain.text.hasPrefix("\"/trusted.svg\" exists only over https: request one of /, /ca.pem,"))
    }

    @Test(arguments: ["/favicon.ico", "/CA.pem", "/ca.pem/", "//", "/status.json%20", "*"])
    func anythingElseIsMissing(target: String) {
        let answer = self.answer(target)
        #expect(answer.status == 404)
        #expect(answer.error == "not-found")
        #expect(answer.text.hasSuffix("/, /ca.pem, /ca.crt, /ca.der, /ca.p12, /status.json, /trusted.svg."))
        #expect(target.count < 3 || !answer.text.contains(target), "repeats what was asked")
    }

    @Test(arguments: ["POST", "PUT", "DELETE", "OPTIONS", "get"])
    func itIsOnlyRead(method: String) {
        let answer = self.answer("/", method: method)
        #expect(answer.status == 405)
        #expect(answer.fields.contains { $0 == ("Allow", "GET, HEAD") })
    }

    @Test(arguments: ["/", "/ca.pem", "/ca.p12", "/status.json", "/trusted.svg", "/missing"])
    func noAnswerIsKeptOrTaken(path: String) {
        let answer = self.answer(path, isSecure: true)
        #expect(answer.fields.contains { $0 == ("Cache-Control", "no-store") })
        #expect(answer.fields.contains { $0 == ("Referrer-Policy", "no-referrer") })
        let bytes = answer.bytes(method: "HEAD", persistence: .keepAlive)
        #expect(String(decoding: bytes, as: UTF8.self).contains("\r\nX-Content-Type-Options: nosniff\r\n"))
        #expect(bytes.suffix(4).elementsEqual("\r\n\r\n".utf8))
    }
}

@Suite struct MagicPageTests {
    private func page(_ status: MagicStatus, isSecure: Bool = false) -> String {
        MagicPage(status: status, isSecure: isSecure).html.markup
    }

    /// The text between `<` and `>`, in order.
    private func tags(_ page: String) -> [Substring] {
        page.split(separator: "<").map { $0.prefix { $0 != ">" } }
    }

    @Test(arguments: [
        (true, false, "It records into <code><bdi>t&lt;a&gt;pe.json</bdi></code>."),
        (false, true, "It replays <code><bdi>t&lt;a&gt;pe.json</bdi></code> and records nothing."),
        (true, true, "It replays <code><bdi>t&lt;a&gt;pe.json</bdi></code> and records anything that is not in it yet."),
        (false, false, "It forwards everything and records nothing."),
    ])
    func thePageShowsTheModeOfTheProxy(records: Bool, replays: Bool, words: String) {
        let page = self.page(MagicFixtures.status(records: records, replays: replays))
        #expect(page.contains(words))
        #expect(page.contains("<dd>1234</dd>"))
        #expect(page.contains("<dt>recorded</dt><dd>1233</dd>") == records)
        #expect(page.contains("<dt>replayed</dt><dd>17</dd>") == replays)
        #expect(page.contains("<dt>not in cassette</dt><dd>16</dd>") == replays)
        #expect(page.contains("<dt>TLS failures</dt><dd>5</dd>"))
    }

    @Test func thePageShowsTheCAWithItsFingerprintAndItsFiles() {
        let page = self.page(MagicFixtures.status())
        let eight = "AB:AB:AB:AB:AB:AB:AB:AB"
        #expect(page.contains(">\(eight):<wbr>\(eight):<wbr>\(eight):<wbr>\(eight)</code>"))
        #expect(page.contains("Wiretape CA &lt;7&gt;"))
        #expect(page.contains("password: a&amp;b"))
        for path in ["ca.pem", "ca.crt", "ca.der", "ca.p12"] { #expect(page.contains("href=\"\(path)\"")) }
        #expect(page.contains("<img src=\"https://wiretape.test/trusted.svg\" alt=\"not trusted yet"))
    }

    @Test func thePageSaysWhetherItCameOverHTTPS() {
        #expect(self.page(MagicFixtures.status(), isSecure: true).contains("this page came over HTTPS"))
        #expect(!self.page(MagicFixtures.status()).contains("this page came over HTTPS"))
    }

    @Test func withoutAnAuthorityThereIsNothingToTrust() {
        let page = self.page(MagicFixtures.status(authority: nil))
        #expect(page.contains("HTTPS passes through unread"))
        #expect(!page.contains("\"ca."))
        #expect(!page.contains("<img"))
        #expect(!page.contains("<details"))
        #expect(!page.contains("TLS failures"))
    }

    @Test func thePageNeedsNothingFromElsewhereAndRunsNothing() {
        let page = self.page(MagicFixtures.status())
        for tag in self.tags(page) {
            let name = tag.prefix { $0 != " " }
            #expect(!["script", "link", "iframe", "object", "embed", "form", "base"].contains(name), "\(tag)")
            #expect(!tag.contains(" style=") && !tag.contains(" on"), "\(tag)")
            #expect(!tag.contains("src=") || tag.contains("src=\"https://wiretape.test/trusted.svg\""), "\(tag)")
            // Relative, so that they also work if the page's URL is in the path of another.
            #expect(!tag.contains("href=") || tag.contains("href=\"ca."), "\(tag)")
        }
        #expect(!page.contains("url(") && !page.contains("@import"))
    }

    @Test func everyOpenedTagIsClosed() {
        var open: [Substring] = []
        for tag in self.tags(self.page(MagicFixtures.status())).dropFirst() {
            let name = tag.prefix { $0 != " " }
            if ["meta", "img", "wbr"].contains(name) { continue }
            if name.hasPrefix("/") {
                #expect(open.popLast() == name.dropFirst(), "\(tag)")
            } else {
                open.append(name)
            }
        }
        #expect(open.isEmpty)
    }

    @Test func thePolicyPermitsThisStyleSheetAlone() throws {
        let page = self.page(MagicFixtures.status())
        let css = try #require(page.components(separatedBy: "<style>").last?.components(separatedBy: "</style>").first)
        var digest = FastSHA256()
        Array(css.utf8).withUnsafeBytes { digest.update($0) }
        #expect(
            MagicPage.contentSecurityPolicy
                == "default-src 'none'; style-src 'sha256-\(Data(digest.finalize()).base64EncodedString())'; img-src https://wiretape.test; "
                + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
    }
}

@Suite struct MagicStatusTests {
    @Test func theJSONHoldsAllThatIsThere() {
        var status = MagicStatus(mode: .newEpisodes, records: true, replays: true, cassette: "a \"b\".json", address: "127.0.0.1:7070")
        status.exchanges = 5
        status.recorded = 3
        status.replayed = 2
        status.misses = 1
        status.tlsFailures = 4
        status.authority = MagicFixtures.authority
        #expect(
            String(decoding: status.json, as: UTF8.self) == """
                { "mode": "new-episodes", "records": true, "replays": true, "cassette": "a \\"b\\".json", "exchanges": 5, "recorded": 3, \
                "replayed": 2, "misses": 1, "tlsFailures": 4, "authority": { "name": "Wiretape CA <7>", \
                "sha256": "\(String(repeating: "ab", count: 32))" } }

                """)
    }

    @Test func withoutAnAuthorityThereIsNoneInTheJSON() {
        let status = MagicStatus(mode: .none, records: false, replays: true, cassette: "a.json", address: "127.0.0.1:7070")
        #expect(!String(decoding: status.json, as: UTF8.self).contains("authority"))
    }
}
