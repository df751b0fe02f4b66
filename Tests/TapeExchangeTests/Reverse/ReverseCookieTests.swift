internal import Testing

@testable internal import TapeExchange

@Suite struct ReverseCookieTests {
    private func mapped(_ value: String, originForm: String = "/a/b?c=/d") -> String {
        String(decoding: ReverseCookie(prefix: "/https://h", originForm: originForm).mapped(Array(value.utf8)[...]), as: UTF8.self)
    }

    @Test(arguments: [
        ("a=b", "a=b; Path=/https://h/a"),
        ("a=b; Path=/", "a=b; Path=/https://h/"),
        ("a=b; path = /x ; HttpOnly", "a=b; HttpOnly; Path=/https://h/x"),
        ("a=b; Domain=h; Secure; SameSite=Lax; Max-Age=9", "a=b; SameSite=Lax; Max-Age=9; Path=/https://h/a"),
        (
            "a=b;SECURE;DOMAIN=.h;PATH=/;Expires=Sun, 06 Nov 1994 08:49:37 GMT",
            "a=b;Expires=Sun, 06 Nov 1994 08:49:37 GMT; Path=/https://h/"
        ),
        ("a=b; Path=/x; Path=/y", "a=b; Path=/https://h/y"), ("a=b; Path=/x; Path=y", "a=b; Path=/https://h/a"),
        ("a=b; Path=", "a=b; Path=/https://h/a"), ("secure=b; Path=/", "secure=b; Path=/https://h/"), ("", "; Path=/https://h/a"),
    ])
    func itComesBackToItsOriginAlone(value: String, mapped: String) { #expect(self.mapped(value) == mapped) }

    @Test(arguments: [("/", "/"), ("/a", "/"), ("/a/", "/a"), ("/a/b/c", "/a/b"), ("/?x=/y/z", "/"), ("*", "/")])
    func thePathOfACookieWithoutOne(originForm: String, path: String) {
        #expect(self.mapped("a=b", originForm: originForm) == "a=b; Path=/https://h\(path)")
    }
}
