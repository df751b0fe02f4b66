import Foundation
import Testing

@testable import Wiretape

@Suite struct LogURLTests {
    @Test(arguments: [
        ("http://a/x", "http://a/x"), ("https://user:pw@a:8443/x#f", "https://a:8443/x"), ("http://a/x?token=secret", "http://a/x?token=…"),
        ("http://a/x?a=1&b=2&secret&c=", "http://a/x?a=…&b=…&…&c=…"), ("http://a/%ED%95%9C?%ED%95%9C=1", "http://a/%ED%95%9C?%ED%95%9C=…"),
        ("http://[::1]/x", "http://[::1]/x"),
    ])
    func namesStayAndValuesGo(url: String, wanted: String) throws { #expect(LogURL.text(try #require(URL(string: url))) == wanted) }

    @Test func aLongOneIsCut() throws {
        let url = try #require(URL(string: "http://a/" + String(repeating: "x", count: 9000)))
        #expect(LogURL.text(url).count == 501)
    }
}
