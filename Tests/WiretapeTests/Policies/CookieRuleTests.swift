import Foundation
import Testing
@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct CookieRuleTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func rule(_ sets: [String], from url: String = "https://www.example.com/x/y") throws -> CookieRule {
        let rule = CookieRule(storage: try #require(CookieRule.privateStorage()))
        try self.store(sets, from: url, in: rule)
        return rule
    }

    private func store(_ sets: [String], from url: String, in rule: CookieRule, at now: Date = Self.now) throws {
        let headers = HTTPSession.Headers(sets.map { HTTPSession.Header(name: "Set-Cookie", value: $0) })
        rule.store(HTTPSession.Response(url: try #require(URL(string: url)), status: 200, headers: headers), at: now)
    }

    private func sent(_ rule: CookieRule, to url: String, own: String? = nil, at now: Date = Self.now) throws -> String? {
        rule.header(for: try #require(URL(string: url)), own: own, at: now)
    }

    @Test(arguments: [
        ("a=1; Path=/", "http://www.example.com/", true), ("a=1; Path=/", "http://WWW.example.com", true),
        ("a=1; Path=/", "http://example.com/", false), ("a=1; Path=/", "http://sub.www.example.com/", false),
        ("a=1; Path=/; Domain=example.com", "http://example.com/", true),
        ("a=1; Path=/; Domain=example.com", "http://deep.sub.example.com/", true),
        ("a=1; Path=/; Domain=example.com", "http://notexample.com/", false), ("a=1", "http://www.example.com/x", true),
        ("a=1", "http://www.example.com/x/z", true), ("a=1", "http://www.example.com/xy", false), ("a=1", "http://www.example.com/", false),
        ("a=1; Path=/x/", "http://www.example.com/x", false), ("a=1; Path=/x/", "http://www.example.com/x/z", true),
        ("a=1; Path=/; Secure", "http://www.example.com/", false), ("a=1; Path=/; Secure", "https://www.example.com:8443/", true),
        ("a=1; Path=/; HttpOnly", "http://www.example.com/", true), ("a=1; Path=/; Max-Age=1", "http://www.example.com/", true),
    ])
    func cookieIsSentWithMatchingRequests(set: String, url: String, isSent: Bool) throws {
        #expect(try self.sent(self.rule([set]), to: url) == (isSent ? "a=1" : nil))
    }

    @Test func eachSetCookieLineIsItsOwn() throws {
        let rule = try self.rule(["a=x, y=z; Path=/", "b=2; Path=/x", "b=3; Path=/"])
        #expect(try self.sent(rule, to: "http://www.example.com/x") == "b=2; a=x, y=z; b=3")
    }

    @Test func theOrderIsAlwaysTheSame() throws {
        let sets = (0..<20).map { "c\($0)=\($0); Path=/\(String(repeating: "p", count: $0 % 3))" }
        let first = try self.sent(self.rule(sets), to: "http://www.example.com/pp")
        for _ in 0..<5 { #expect(try self.sent(self.rule(sets.shuffled()), to: "http://www.example.com/pp") == first) }
    }

    @Test func aLaterCookieTakesThePlaceOfAnEarlierOne() throws {
        let rule = try self.rule(["a=1; Path=/"])
        try self.store(["a=2; Path=/"], from: "https://www.example.com/", in: rule)
        #expect(try self.sent(rule, to: "http://www.example.com/") == "a=2")
    }

    @Test(arguments: ["a=; Max-Age=0; Path=/", "a=; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/"])
    func anExpiredOneDeletes(set: String) throws {
        let rule = try self.rule(["a=1; Path=/", "b=1; Path=/"])
        try self.store([set], from: "https://www.example.com/", in: rule)
        #expect(try self.sent(rule, to: "http://www.example.com/") == "b=1")
    }

    @Test func aCookieEndsWhenItsTimeIsOver() throws {
        let rule = try self.rule(["a=1; Path=/; Max-Age=4000000000"])
        #expect(try self.sent(rule, to: "http://www.example.com/") == "a=1")
        #expect(try self.sent(rule, to: "http://www.example.com/", at: Self.now.addingTimeInterval(400 * 86_400)) == nil)
    }

    @Test func cookiesForOtherHostsAreRefused() throws {
        let rule = try self.rule(["a=1; Path=/; Domain=other.com", "b=1; Path=/; Domain=com"])
        #expect(try self.sent(rule, to: "http://other.com/") == nil)
        #expect(rule.storage.cookies?.isEmpty == true)
    }

    @Test func cookiesOfARequestTakePrecedence() throws {
        let rule = try self.rule(["a=1; Path=/", "b=2; Path=/"])
        #expect(try self.sent(rule, to: "http://www.example.com/", own: "a=own; z=9") == "a=own; z=9; b=2")
        #expect(try self.sent(rule, to: "http://other.com/", own: "z=9") == "z=9")
        var headers = HTTPSession.Headers([
            HTTPSession.Header(name: "Accept", value: "*/*"), HTTPSession.Header(name: "cookie", value: "a=own"),
        ])
        headers = rule.headers(headers, for: try #require(URL(string: "http://www.example.com/")), at: Self.now)
        #expect(headers.map { "\($0.name): \($0.value)" } == ["Accept: */*", "Cookie: a=own; b=2"])
        let other = try #require(URL(string: "http://other.com/"))
        #expect(rule.headers(headers, for: other, at: Self.now) == headers)
    }

    @Test func aStorageThatTakesNoneGetsNone() throws {
        let rule = CookieRule(storage: try #require(CookieRule.privateStorage()))
        rule.storage.cookieAcceptPolicy = .never
        try self.store(["a=1"], from: "http://a/", in: rule)
        #expect(rule.storage.cookies?.isEmpty == true)

        rule.storage.cookieAcceptPolicy = .onlyFromMainDocumentDomain
        let headers = HTTPSession.Headers([HTTPSession.Header(name: "Set-Cookie", value: "a=1; Path=/")])
        let response = HTTPSession.Response(url: try #require(URL(string: "http://ads.example/")), status: 200, headers: headers)
        rule.store(response, mainDocument: URL(string: "http://shop.example/"), at: Self.now)
        #expect(rule.storage.cookies?.isEmpty == true)
        rule.store(response, mainDocument: URL(string: "http://ads.example/page"), at: Self.now)
        #expect(rule.storage.cookies?.count == 1)
    }

    @Test func storagesShareNothing() throws {
        let one = try self.rule(["a=1; Path=/"])
        let other = try self.rule([])
        #expect(one.storage.cookies?.count == 1 && other.storage.cookies?.isEmpty == true)
    }
}

@Suite struct CookieDateTests {
    /// RFC 6265, 5.1.1; 2030-10-21T07:28:00Z is 1918798080.
    @Test(arguments: [
        "Mon, 21 Oct 2030 07:28:00 GMT", "Mon, 21-Oct-2030 07:28:00 GMT", "Monday, 21-Oct-30 07:28:00 GMT", "Mon Oct 21 07:28:00 2030",
        "21 october 2030 7:28:0", "2030 Oct 21 07:28:00", "07:28:00 21-Oct-30",
    ])
    func theWaysOfWritingOneTime(text: String) { #expect(CookieDate.date(text)?.timeIntervalSince1970 == 1_918_798_080) }

    @Test(arguments: [
        ("21 Oct 70 00:00:00", 1970), ("21 Oct 69 00:00:00", 2069), ("21 Oct 99 00:00:00", 1999), ("21 Oct 00 00:00:00", 2000),
    ])
    func twoDigitsOfAYear(text: String, year: Int) throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        #expect(calendar.component(.year, from: try #require(CookieDate.date(text))) == year)
    }

    @Test(arguments: [
        "", "tomorrow", "21 Oct 2030", "Oct 2030 07:28:00", "32 Oct 2030 07:28:00", "31 Feb 2030 07:28:00", "21 Oct 2030 24:00:00",
        "21 Oct 2030 07:60:00", "21 Oct 1600 07:28:00", "21 Foo 2030 07:28:00", "21 Oct 20300 07:28:00", "0 Oct 2030 07:28:00",
    ])
    func invalidDateIsNil(text: String) { #expect(CookieDate.date(text) == nil) }
}

@Suite struct SetCookieTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func read(_ field: String, from url: String = "http://www.example.com/x/y") throws -> SetCookie? {
        SetCookie(field, from: try #require(URL(string: url)), at: Self.now)
    }

    private func text(_ cookie: SetCookie?) -> String {
        guard let cookie else { return "none" }
        var words = ["\(cookie.name)=\(cookie.value)", cookie.domain ?? "host", cookie.path]
        if let expires = cookie.expires {
            words.append(expires == .distantPast ? "past" : "+\(Int(expires.timeIntervalSince(Self.now)))")
        }
        if cookie.isSecure { words.append("secure") }
        if cookie.isHTTPOnly { words.append("httponly") }
        if let site = cookie.sameSite { words.append(site) }
        return words.joined(separator: " ")
    }

    @Test(arguments: [
        ("a=1", "a=1 host /x"), ("a=1; Path=/z", "a=1 host /z"), ("a=1; Path=z", "a=1 host /x"), ("a=1; Path=", "a=1 host /x"),
        ("a=1;Path=/a;path=/b", "a=1 host /b"), ("  a = 1 ; Path=/", "a=1 host /"), ("a=", "a= host /x"), ("a=b=c", "a=b=c host /x"),
        ("a=\"q, u\"", "a=\"q, u\" host /x"), ("a=x, y=z", "a=x, y=z host /x"), ("a=한글", "a=한글 host /x"),
        ("a=1; Secure; HttpOnly; SameSite=Lax", "a=1 host /x secure httponly Lax"), ("a=1;;; unknown=2", "a=1 host /x"),
        ("a=1; Max-Age=10", "a=1 host /x +10"), ("a=1; Max-Age=0", "a=1 host /x past"), ("a=1; Max-Age=-5", "a=1 host /x past"),
        ("a=1; Max-Age=x", "a=1 host /x"), ("a=1; Max-Age=", "a=1 host /x"),
        ("a=1; Max-Age=99999999999999999999", "a=1 host /x +34560000"),
        ("a=1; Max-Age=10; Expires=Wed, 21 Oct 2037 07:28:00 GMT", "a=1 host /x +10"),
        ("a=1; Expires=Fri, 15 Jan 2027 08:00:30 GMT", "a=1 host /x +30"), ("a=1; Expires=never", "a=1 host /x"),
    ])
    func fieldsAreReadAsBrowsersReadThem(field: String, wanted: String) throws { #expect(self.text(try self.read(field)) == wanted) }

    @Test(arguments: [
        ("a=1; Domain=example.com", "a=1 example.com /x"), ("a=1; Domain=.Example.COM", "a=1 example.com /x"),
        ("a=1; Domain=www.example.com", "a=1 www.example.com /x"), ("a=1; Domain=", "a=1 host /x"), ("a=1; Domain=evil.com", "none"),
        ("a=1; Domain=sub.www.example.com", "none"), ("a=1; Domain=ample.com", "none"), ("a=1; Domain=com", "none"),
        ("=1", "none"), ("novalue", "none"), ("", "none"), (";;;", "none"), ("a=1\r\nX: y", "none"), ("a=\u{0}", "none"),
    ])
    func hostsAndWhatIsNone(field: String, wanted: String) throws { #expect(self.text(try self.read(field)) == wanted) }

    @Test func aNameOfOneLabelAndAnAddressAreForThemselves() throws {
        #expect(self.text(try self.read("a=1; Domain=localhost", from: "http://localhost/")) == "a=1 host /")
        #expect(self.text(try self.read("a=1; Domain=127.0.0.1", from: "http://127.0.0.1:80/")) == "a=1 host /")
        #expect(try self.read("a=1; Domain=0.0.1", from: "http://127.0.0.1:80/") == nil)
        #expect(self.text(try self.read("a=1", from: "http://[::1]:8080/a/b/")) == "a=1 host /a/b")
    }

    @Test func cookieThatIsTooLongIsIgnored() throws {
        #expect(try self.read("a=" + String(repeating: "x", count: 4095)) != nil)
        #expect(try self.read("a=" + String(repeating: "x", count: 4096)) == nil)
    }

    @Test func foundationKeepsAllOfIt() throws {
        let set = try #require(try self.read("a=v=1; Domain=example.com; Path=/z; Max-Age=60; Secure; HttpOnly"))
        let cookie = try #require(set.cookie)
        #expect(cookie.name == "a" && cookie.value == "v=1" && cookie.domain == ".example.com" && cookie.path == "/z")
        #expect(cookie.isSecure && cookie.isHTTPOnly && !cookie.isSessionOnly)
        #expect(cookie.expiresDate == Self.now.addingTimeInterval(60))
        let brief = try #require(try self.read("b=2")?.cookie)
        #expect(brief.domain == "www.example.com" && brief.isSessionOnly && brief.expiresDate == nil && !brief.isSecure)
    }

    @Test func anExpiredCookieSaysSo() throws {
        let now = Self.now
        #expect(try #require(try self.read("a=; Max-Age=0")).isExpired(at: now))
        let minute = try #require(try self.read("a=1; Max-Age=60"))
        #expect(!minute.isExpired(at: now) && minute.isExpired(at: now.addingTimeInterval(60)))
        #expect(try #require(try self.read("a=1")).isExpired(at: .distantFuture) == false)
    }
}
