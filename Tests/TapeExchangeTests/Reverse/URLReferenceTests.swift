internal import Testing

@testable internal import TapeExchange

@Suite struct URLReferenceTests {
    private func resolved(_ reference: String, target: String = "/b/c/d;p?q", scheme: String = "http") -> String? {
        URLReference(scheme: scheme, authority: "a", target: target).resolved(Array(reference.utf8)[...]).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// RFC 3986, 5.4, its references to http alone.
    @Test(arguments: [
        ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"), ("//g", "http://g/"),
        ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"),
        ("g?y#s", "http://a/b/c/g?y#s"), (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"),
        ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../", "http://a/b/"),
        ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"), ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"),
        ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"),
        ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"), ("g?y/./x", "http://a/b/c/g?y/./x"),
        ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g#s/./x"), ("g#s/../x", "http://a/b/c/g#s/../x"),
    ])
    func theExamplesOfTheStandard(reference: String, url: String) { #expect(self.resolved(reference) == url) }

    @Test func whatIsWholeStaysSo() {
        #expect(self.resolved("https://b:8/c?d#e") == "https://b:8/c?d#e")
        #expect(self.resolved("HTTP://B") == "http://B/")
        #expect(self.resolved("https://b?c") == "https://b/?c")
        #expect(self.resolved("//b/c", scheme: "https") == "https://b/c")
    }

    /// A client that drops segments of `/https://host/../x` would lose the host.
    @Test func noDotSegmentIsLeft() {
        #expect(self.resolved("https://b/../../c") == "https://b/c")
        #expect(self.resolved("/%2e%2E/x/.%2e/y") == "http://a/y")
        #expect(self.resolved("/...%2e/x") == "http://a/...%2e/x")
    }

    @Test(arguments: ["mailto:a@b", "app://open/x", "javascript:1", "http:g", "https:/g", "x-1+2.3:y"])
    func otherSchemesAreNotTouched(reference: String) { #expect(self.resolved(reference) == nil) }

    @Test func whatLooksLikeASchemeAndIsNoneIsAPath() {
        #expect(self.resolved("1a:b") == "http://a/b/c/1a:b")
        #expect(self.resolved("./a:b") == "http://a/b/c/a:b")
        #expect(self.resolved("a/b:c") == "http://a/b/c/a/b:c")
    }

    @Test func bytesOutsideOfURLsStay() {
        let raw: [UInt8] = [0x2F, 0xE9, 0x20, 0x22]
        #expect(URLReference(scheme: "https", authority: "a", target: "/").resolved(raw[...]) == Array("https://a".utf8) + raw)
    }
}
