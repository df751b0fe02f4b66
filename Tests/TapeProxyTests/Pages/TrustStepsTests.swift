@testable import TapeProxy
import Testing

@Suite struct TrustStepsTests {
    private let all = TrustSteps.all(authority: "CA <7>", address: "127.0.0.1:7070")

    @Test func everySystemHasItsSteps() {
        #expect(
            self.all.map(\.title) == [
                "Command line", "macOS", "iOS simulator", "iPhone and iPad", "Android", "Firefox", "Debian and Ubuntu", "Windows",
            ])
    }

    @Test(arguments: [
        ("Command line", "eval \"$(wiretape env --proxy 127.0.0.1:7070)\""), ("macOS", "security add-trusted-cert"),
        ("iOS simulator", "xcrun simctl keychain booted add-root-cert"),
        ("iPhone and iPad", "Certificate Trust Settings: switch CA &lt;7&gt; on"),
        ("Android", "&lt;certificates src=&quot;user&quot; /&gt;"),
        ("Android", "-http-proxy http://127.0.0.1:7070"), ("Firefox", "security.enterprise_roots.enabled"),
        ("Debian and Ubuntu", "sudo update-ca-certificates"), ("Windows", "certutil -user -addstore Root wiretape-ca.crt"),
    ])
    func theStepsHoldTheirCommand(title: String, command: String) throws {
        let steps = try #require(self.all.first { $0.title == title })
        #expect(steps.steps.markup.contains(command))
    }

    @Test func stepsFoldUnderTheirTitle() {
        let html = TrustSteps(title: "A & B", steps: "<p>\("x")</p>").html.markup
        #expect(html == "<details>\n<summary>A &amp; B</summary>\n<p>x</p>\n</details>")
    }
}
