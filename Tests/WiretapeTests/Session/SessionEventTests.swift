import Foundation
import Testing
@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

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

@Suite struct SessionEventSummaryTests {
    @Test func sourcesAreNamed() throws {
        let url = try #require(URL(string: "http://a/"))
        func summary(_ source: ExchangeSource) -> String {
            HTTPSession.Event.Kind.transport(.head(HTTPSession.Response(url: url, status: 200, source: source))).summary
        }
        #expect(summary(.live) == "head 200 of http://a/")
        #expect(summary(.stub) == "head 200 of http://a/, from a stub")
        #expect(summary(.recorded(cassette: "c", id: 1)) == "head 200 of http://a/, recorded as 1")
    }

    @Test func aRequestWithoutABodySaysNoSize() throws {
        let request = TransportRequest(method: "GET", url: try #require(URL(string: "http://a/")))
        #expect(HTTPSession.Event.Kind.started(request).summary == "started GET http://a/")
    }
}
