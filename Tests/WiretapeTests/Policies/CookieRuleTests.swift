import Foundation
import Testing
import Wiretape

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
        let headers = HTTPHeaders(sets.map { HTTPHeader(name: "Set-Cookie", value: $0) })
        rule.store(HTTPResponse(url: try #require(URL(string: url)), status: 200, headers: headers), at: now)
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
    func whichRequestsTakeACookieAlong(set: String, url: String, isSent: Bool) throws {
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

    @Test func nobodySetsCookiesForOthers() throws {
        let rule = try self.rule(["a=1; Path=/; Domain=other.com", "b=1; Path=/; Domain=com"])
        #expect(try self.sent(rule, to: "http://other.com/") == nil)
        #expect(rule.storage.cookies?.isEmpty == true)
    }

    @Test func whatARequestSaysItselfStays() throws {
        let rule = try self.rule(["a=1; Path=/", "b=2; Path=/"])
        #expect(try self.sent(rule, to: "http://www.example.com/", own: "a=own; z=9") == "a=own; z=9; b=2")
        #expect(try self.sent(rule, to: "http://other.com/", own: "z=9") == "z=9")
        var headers = HTTPHeaders([HTTPHeader(name: "Accept", value: "*/*"), HTTPHeader(name: "cookie", value: "a=own")])
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
        let headers = HTTPHeaders([HTTPHeader(name: "Set-Cookie", value: "a=1; Path=/")])
        let response = HTTPResponse(url: try #require(URL(string: "http://ads.example/")), status: 200, headers: headers)
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
