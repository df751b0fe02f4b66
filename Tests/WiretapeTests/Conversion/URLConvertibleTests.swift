import Foundation
import Testing
import Wiretape

@Suite struct URLConvertibleTests {
    @Test func textsURLsAndComponentsAreURLs() throws {
        let url = try "https://h/한?a=b".asURL()
        #expect(url.absoluteString == "https://h/%ED%95%9C?a=b")
        #expect(try url.asURL() == url)
        var components = URLComponents()
        (components.scheme, components.host, components.port, components.path) = ("https", "h", 8443, "/a b")
        #expect(try components.asURL().absoluteString == "https://h:8443/a%20b")
    }

    @Test func componentsThatMakeNoURLAreRefused() {
        var components = URLComponents()
        (components.scheme, components.host, components.path) = ("https", "h", "a")
        #expect {
            _ = try components.asURL()
        } throws: {
            "\($0)" == "the components with host \"h\" and path \"a\" do not form a URL: begin the path with \"/\""
        }
    }
}
