import Testing

@testable import CassetteFormat

@Suite struct HARCookieTests {
    @Test func sentCookiesAreSplit() {
        #expect(HARCookie.sent("a=1;  b = 2=3 ;;c").map { "\($0.name)|\($0.value)" } == ["a|1", "b|2=3", "c|"])
        #expect(HARCookie.sent("").isEmpty)
    }

    @Test func attributesAndFlagsAreKept() {
        let cookie = HARCookie.set("a=b; SECURE; domain=x.org; Max-Age=1; expires=nonsense")
        #expect(cookie == HARCookie(name: "a", value: "b", attributes: [.init(name: "domain", value: "x.org")], flags: ["secure"]))
    }

    @Test func aFieldWithoutANameIsNoCookie() {
        #expect(HARCookie.set("Secure") == nil)
        #expect(HARCookie.set("") == nil)
    }
}
