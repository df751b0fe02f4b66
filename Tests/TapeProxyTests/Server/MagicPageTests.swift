import Foundation
import Testing
@testable import TapeProxy

@Suite struct MagicPageTests {
    private func page(_ status: MagicStatus, isSecure: Bool = false) -> String {
        MagicPage(status: status, isSecure: isSecure).html.markup
    }

    /// What stands between `<` and `>`, in order.
    private func tags(_ page: String) -> [Substring] {
        page.split(separator: "<").map { $0.prefix { $0 != ">" } }
    }

    @Test(arguments: [
        (true, false, "It records into <code><bdi>t&lt;a&gt;pe.json</bdi></code>."),
        (false, true, "It replays <code><bdi>t&lt;a&gt;pe.json</bdi></code> and records nothing."),
        (true, true, "It replays <code><bdi>t&lt;a&gt;pe.json</bdi></code> and records what is not in there yet."),
        (false, false, "It forwards everything and records nothing."),
    ])
    func thePageSaysWhatTheProxyDoes(records: Bool, replays: Bool, words: String) {
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
        for path in ["/ca.pem", "/ca.crt", "/ca.der", "/ca.p12"] { #expect(page.contains("href=\"\(path)\"")) }
        #expect(page.contains("<img src=\"https://wiretape.test/trusted.svg\" alt=\"not trusted yet"))
    }

    @Test func thePageSaysWhetherItCameOverHTTPS() {
        #expect(self.page(MagicFixtures.status(), isSecure: true).contains("this page came over HTTPS"))
        #expect(!self.page(MagicFixtures.status()).contains("this page came over HTTPS"))
    }

    @Test func withoutAnAuthorityThereIsNothingToTrust() {
        let page = self.page(MagicFixtures.status(authority: nil))
        #expect(page.contains("HTTPS passes through unread"))
        #expect(!page.contains("/ca."))
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
            #expect(!tag.contains("href=") || tag.contains("href=\"/"), "\(tag)")
        }
        #expect(!page.contains("url(") && !page.contains("@import"))
    }

    @Test func whatIsOpenedIsClosed() {
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
