@testable internal import TapeExchange
internal import Testing

@Suite struct OriginTests {
    @Test func spellingsOfOneOriginAreEqual() throws {
        let plain = Origin(scheme: .http, host: "Example.org")
        #expect(plain == Origin(scheme: .http, host: "example.ORG", port: 80))
        #expect(plain != Origin(scheme: .https, host: "example.org"))
        #expect(plain != Origin(scheme: .http, host: "example.org", port: 443))
    }

    @Test func authorityLeavesTheDefaultPortOut() {
        #expect(Origin(scheme: .http, host: "a").authority == "a")
        #expect(Origin(scheme: .http, host: "a", port: 443).authority == "a:443")
        #expect(Origin(scheme: .https, host: "a", port: 443).authority == "a")
        #expect(Origin(scheme: .http, host: "::1", port: 8080).authority == "[::1]:8080")
    }
}

@Suite struct AuthorityTests {
    private func read(_ text: String) -> Authority? { Authority(Array(text.utf8)[...]) }

    @Test func hostIsLowerCaseAndPortOptional() {
        #expect(self.read("Example.ORG")?.host == "example.org")
        #expect(self.read("Example.ORG")?.port == nil)
        #expect(self.read("a:")?.port == nil)
        #expect(self.read("a:080")?.port == 80)
        #expect(self.read("a:65535")?.port == 65_535)
        #expect(self.read("[::1]:8080") == self.read("[::1]:8080"))
        #expect(self.read("[FE80::1]")?.host == "fe80::1")
        #expect(self.read("a_b~c!$&'()*+,;=.-")?.host == "a_b~c!$&'()*+,;=.-")
    }

    @Test(arguments: [
        "", ":80", "a:0", "a:65536", "a:+80", "a:8_0", "a:000080", "a:80:80", "a b", "a@b", "u:p@b", "a%41", "[::1", "::1", "[::1]a",
        "[1.2.3.4]", "[]", "[fe80::1%25eth0]", "[v1.a]", "a/b",
        "a\\b", "a?b", "a#b", "\u{FC}", "a\"", "<a>", "a^b", "a`b", "a|b", "a:80 ",
    ])
    func anythingElseIsRefused(_ text: String) {
        #expect(self.read(text) == nil)
    }

    @Test func nameLongerThanDNSAllowsIsRefused() {
        #expect(self.read(String(repeating: "a", count: 255)) != nil)
        #expect(self.read(String(repeating: "a", count: 256)) == nil)
    }
}
