import TapeCore
import Testing
import Wiretape

@Suite struct HTTPHeadersTests {
    @Test func duplicatesAndSpellingAreKept() {
        let headers = HTTPHeaders(HeaderFields(["Set-Cookie: a=1", "ETag: \"x\"", "set-cookie: b=2"]))
        #expect(headers.values(for: "SET-COOKIE") == ["a=1", "b=2"])
        #expect(headers.headerFields.lines == ["Set-Cookie: a=1", "ETag: \"x\"", "set-cookie: b=2"])
    }
}
