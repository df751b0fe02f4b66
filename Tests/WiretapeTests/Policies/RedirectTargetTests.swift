import Foundation
import TapeTestSupport
import Testing

@testable import Wiretape

@Suite struct RedirectTargetTests {
    private static let base = "http://a/b/c/d;p?q"

    private func resolved(_ location: String, from base: String = Self.base) throws -> String {
        try RedirectTarget.resolve(location, against: #require(URL(string: base))).get().absoluteString
    }

    /// RFC 3986, 5.4, as far as a web address comes of it.
    @Test(arguments: [
        ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"), ("//g", "http://g"),
        ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"),
        ("g?y#s", "http://a/b/c/g?y#s"), (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"),
        ("", "http://a/b/c/d;p?q"), ("..", "http://a/b/"), ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"),
        ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."),
        ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"), ("g;x=1/../y", "http://a/b/c/y"),
    ])
    func referencesResolve(location: String, wanted: String) throws { #expect(try self.resolved(location) == wanted) }

    @Test(arguments: [
        ("//h:81/x?z", "http://h:81/x?z"), ("https://h/x", "https://h/x"), ("HTTPS://H/x", "HTTPS://H/x"),
        ("http://[::1]:8080/x", "http://[::1]:8080/x"), ("//[::1]/x[1]", "http://[::1]/x%5B1%5D"),
        ("http://user:pw@h/", "http://user:pw@h/"), ("  /x\t", "http://a/x"),
    ])
    func wholeAddresses(location: String, wanted: String) throws { #expect(try self.resolved(location) == wanted) }

    /// What is escaped already stays so, whatever stands beside it.
    @Test(arguments: [
        ("/a b%20c", "http://a/a%20b%20c"), ("/한글", "http://a/%ED%95%9C%EA%B8%80"), ("/x?q=a|b%7C", "http://a/x?q=a%7Cb%7C"),
        ("/x?a[]=%5B", "http://a/x?a%5B%5D=%5B"), ("/%7", "http://a/%257"), ("/%zz%20", "http://a/%25zz%20"), ("/100%", "http://a/100%25"),
        ("/\\evil.example", "http://a/%5Cevil.example"), ("\\\\evil.example/x", "http://a/b/c/%5C%5Cevil.example/x"),
        ("/a\u{0}b", "http://a/a%00b"), ("/\"<>^`{}", "http://a/%22%3C%3E%5E%60%7B%7D"),
    ])
    func whatMayNotStandInAURLIsEscapedOnce(location: String, wanted: String) throws {
        #expect(try self.resolved(location) == wanted)
    }

    @Test(arguments: [
        ("/x", "http://a/y#f", "http://a/x#f"), ("/x#g", "http://a/y#f", "http://a/x#g"), ("/x#", "http://a/y#f", "http://a/x#"),
        ("//b/x?q=%5B", "http://a/y#%20f", "http://b/x?q=%5B#%20f"), ("/x", "http://a/y", "http://a/x"),
    ])
    func aFragmentGoesAlong(location: String, base: String, wanted: String) throws {
        #expect(try self.resolved(location, from: base) == wanted)
    }

    /// Never a crash, and never anything but a web address with a host.
    @Test func anyBytesGiveAWebAddressOrAnError() throws {
        var generator = SeededGenerator(seed: 6)
        let base = try #require(URL(string: Self.base))
        let alphabet = Array("http:/?#[]@%25.. \\\u{7f}한\tAz09;=&\u{0}")
        for _ in 0..<5000 {
            let location = String(
                (0..<Int.random(in: 0...24, using: &generator)).compactMap { _ in alphabet.randomElement(using: &generator) })
            guard case .success(let url) = RedirectTarget.resolve(location, against: base) else { continue }
            #expect(["http", "https"].contains(url.scheme?.lowercased()) && url.host()?.isEmpty == false, "\(location)")
            #expect(URL(string: url.absoluteString, encodingInvalidCharacters: false) != nil, "\(location)")
        }
    }

    @Test func aLongLocationIsCutInMessages() {
        #expect(RedirectTarget.shown("/x?token=1") == "/x…")
        #expect(RedirectTarget.shown("/x") == "/x")
        #expect(RedirectTarget.shown(String(repeating: "y", count: 500)).count == 121)
    }
}
