import Foundation
import Testing

@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

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

    @Test func whatIsTooLongIsLeftOut() throws {
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
