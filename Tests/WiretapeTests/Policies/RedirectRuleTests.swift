import Foundation
import TapeTestSupport
import Testing
@testable import Wiretape

@Suite struct RedirectRuleTests {
    private func decide(
        _ status: Int, _ locations: [String], method: String = "GET", hops: Int = 0, from: String = "http://a/b?c", limit: Int = 20
    ) throws -> RedirectRule.Decision {
        let url = try #require(URL(string: from))
        let response = HTTPSession.Response(
            url: url, status: status, headers: HTTPSession.Headers(locations.map { HTTPSession.Header(name: "location", value: $0) }))
        return RedirectRule(limit: limit).decide(method: method, url: url, response: response, hops: hops)
    }

    /// The request after a redirect (RFC 9110, 15.4): `GET` without its body, or unchanged.
    @Test(arguments: [
        ("GET", 301, "GET body"), ("GET", 302, "GET body"), ("GET", 303, "GET"), ("GET", 307, "GET body"), ("GET", 308, "GET body"),
        ("HEAD", 301, "HEAD body"), ("HEAD", 302, "HEAD body"), ("HEAD", 303, "HEAD"), ("HEAD", 307, "HEAD body"),
        ("POST", 301, "GET"), ("POST", 302, "GET"), ("POST", 303, "GET"), ("POST", 307, "POST body"), ("POST", 308, "POST body"),
        ("PUT", 301, "PUT body"), ("PUT", 302, "PUT body"), ("PUT", 303, "GET"), ("PUT", 307, "PUT body"), ("PUT", 308, "PUT body"),
        ("DELETE", 302, "DELETE body"), ("DELETE", 303, "GET"), ("PATCH", 301, "PATCH body"), ("QUERY", 301, "QUERY body"),
        ("QUERY", 303, "GET"), ("OPTIONS", 303, "GET"),
    ])
    func methodsAndBodies(method: String, status: Int, wanted: String) throws {
        guard case .follow(let redirect) = try self.decide(status, ["/next"], method: method) else {
            Issue.record("not followed")
            return
        }
        #expect(redirect.method + (redirect.keepsBody ? " body" : "") == wanted)
        #expect(redirect.target.absoluteString == "http://a/next")
    }

    @Test(arguments: [200, 201, 204, 300, 304, 305, 306, 399, 401, 500])
    func otherStatusesStay(status: Int) throws { #expect(try self.decide(status, ["/next"]) == .stay) }

    @Test func withoutALocationTheAnswerIsTheAnswer() throws { #expect(try self.decide(302, []) == .stay) }

    @Test func twoLocationsThatAgreeAreOne() throws {
        guard case .follow = try self.decide(302, ["/x", "/x"]) else {
            Issue.record("not followed")
            return
        }
    }

    @Test(arguments: [
        (["/x", "/y"], "badLocation", "the 302 of \"http://a/b?…\" has 2 conflicting Location fields, \"/x\" first"),
        (
            ["ftp://h/x"], "unsupportedScheme",
            "the 302 of \"http://a/b?…\" redirects to \"ftp://h/x\", but only http and https are followed"
        ),
        (["app://back?code=secret"], "unsupportedScheme", "redirects to \"app://back…\""),
        (["javascript:alert(1)"], "unsupportedScheme", "javascript:alert(1)"),
        (["http://"], "badLocation", "without a host"), (["http://h:0/"], "badLocation", "an invalid port"),
        (["http://h:70000/"], "badLocation", "an invalid port"), (["http:///x"], "badLocation", "without a host"),
    ])
    func unreachableLocations(locations: [String], code: String, words: String) throws {
        guard case .refuse(let error) = try self.decide(302, locations) else {
            Issue.record("not refused")
            return
        }
        #expect(error.code.description == code)
        #expect(error.message.contains(words) && !error.message.contains("secret"), "\(error.message)")
    }

    @Test func theTwentyFirstIsRefused() throws {
        guard case .follow = try self.decide(302, ["/x"], hops: 19) else {
            Issue.record("the 20th was not followed")
            return
        }
        guard case .refuse(let error) = try self.decide(302, ["/x"], hops: 20) else {
            Issue.record("the 21st was followed")
            return
        }
        #expect(error.code == .tooManyRedirects)
        #expect(
            "\(error)" == "\"http://a/b?…\" redirects again after 20 redirects: check whether the server redirects in a loop")
        guard case .refuse = try self.decide(302, ["/x"], limit: 0) else {
            Issue.record("a limit of nought was passed over")
            return
        }
    }
}

@Suite struct RedirectErrorTests {
    @Test func itShowsAsItsMessage() {
        #expect("\(RedirectError(.badLocation, "no such place"))" == "no such place")
        #expect("\(RedirectError.Code.tooManyRedirects)" == "tooManyRedirects")
        #expect(RedirectError.Code.badLocation != .unsupportedScheme)
    }
}

@Suite struct RedirectTargetTests {
    private static let base = "http://a/b/c/d;p?q"

    private func resolved(_ location: String, from base: String = Self.base) throws -> String {
        try RedirectTarget.resolve(location, against: #require(URL(string: base))).get().absoluteString
    }

    /// RFC 3986, 5.4, for results that are web addresses.
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

    /// Escaped characters stay escaped, whatever surrounds them.
    @Test(arguments: [
        ("/a b%20c", "http://a/a%20b%20c"), ("/한글", "http://a/%ED%95%9C%EA%B8%80"), ("/x?q=a|b%7C", "http://a/x?q=a%7Cb%7C"),
        ("/x?a[]=%5B", "http://a/x?a%5B%5D=%5B"), ("/%7", "http://a/%257"), ("/%zz%20", "http://a/%25zz%20"), ("/100%", "http://a/100%25"),
        ("/\\evil.example", "http://a/%5Cevil.example"), ("\\\\evil.example/x", "http://a/b/c/%5C%5Cevil.example/x"),
        ("/a\u{0}b", "http://a/a%00b"), ("/\"<>^`{}", "http://a/%22%3C%3E%5E%60%7B%7D"),
    ])
    func invalidCharactersOfALocationAreEscapedOnce(location: String, wanted: String) throws {
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
