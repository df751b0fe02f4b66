@testable import CassetteFormat
import Testing

@Suite struct HARCookieTests {
    @Test func sentCookiesAreSplit() {
        #expect(HARCookie.sent("a=1;  b = 2=3 ;;c").map { "\($0.name)|\($0.value)" } == ["a|1", "b|2=3", "c|"])
        #expect(HARCookie.sent("").isEmpty)
    }

    @Test func attributesAndFlagsAreKept() {
        let cookie = HARCookie.set("a=b; SECURE; domain=x.org; Max-Age=1; expires=nonsense")
        #expect(cookie == HARCookie(name: "a", value: "b", attributes: [.init(name: "domain", value: "x.org")], flags: ["secure"]))
    }

    @Test(arguments: [
        "Fri, 10 Jan 2020 21:41:12 GMT", "Fri, 10-Jan-20 21:41:12 GMT", "Fri, 10-Jan-2020 21:41:12 GMT", "Friday, 10-Jan-20 21:41:12 GMT",
    ])
    func aDateMayHaveDashes(date: String) {
        let cookie = HARCookie.set("a=b; expires=\(date)")
        #expect(cookie?.attributes.map(\.value) == ["2020-01-10T21:41:12.000000Z"])
    }

    @Test func aFieldWithoutANameIsNoCookie() {
        #expect(HARCookie.set("Secure") == nil)
        #expect(HARCookie.set("") == nil)
    }
}

@Suite struct FormPairsTests {
    private func pairs(_ text: String) -> [String] { FormPairs.parse(Array(text.utf8)[...]).map { "\($0.name)|\($0.value)" } }

    @Test func pairsAreSplitAndDecoded() {
        #expect(self.pairs("a=1&b=%20+c&d&=e&f=g=h&&") == ["a|1", "b|  c", "d|", "|e", "f|g=h"])
    }

    @Test func invalidEscapesStay() {
        #expect(self.pairs("a=%&b=%4&c=%zz&d=%FF+") == ["a|%", "b|%4", "c|%zz", "d|%FF+"])
    }

    @Test func aURLsFragmentIsNoPartOfItsQuery() {
        #expect(FormPairs.query(of: "http://a/?x=1#?y=2") == [FormPairs.Pair(name: "x", value: "1")])
        #expect(FormPairs.query(of: "http://a/#?y=2").isEmpty)
    }
}
