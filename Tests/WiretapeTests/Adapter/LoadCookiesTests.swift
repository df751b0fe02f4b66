import Foundation
import Testing

@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct LoadCookiesTests {
    private static let url = URL(string: "http://here.test/a") ?? URL(fileURLWithPath: "/")

    private func cookies(_ change: (URLSessionConfiguration) -> Void = { _ in }) -> LoadCookies? {
        let configuration = URLSessionConfiguration.ephemeral
        change(configuration)
        return LoadCookies(configuration, request: URLRequest(url: Self.url))
    }

    @Test func whatAnAnswerSetsGoesOutWithTheNextRequest() throws {
        let cookies = try #require(self.cookies())
        var headers = HTTPHeaders()
        headers.add(name: "Set-Cookie", value: "a=1; Expires=Wed, 21 Oct 2065 07:28:00 GMT")
        headers.add(name: "Set-Cookie", value: "b=2")
        cookies.store(HTTPResponse(url: Self.url, status: 200, headers: headers))
        let request = cookies.added(to: TransportRequest(method: "GET", url: Self.url, headers: ["Cookie": "old=1", "X": "y"]))
        let sent = try #require(request.headers.value(for: "Cookie")).components(separatedBy: "; ").sorted()
        #expect(sent == ["a=1", "b=2"])
        #expect(request.headers.count == 2)
    }

    @Test func aRequestKeepsItsOwnWhereTheStorageHasNone() throws {
        let cookies = try #require(self.cookies())
        let request = cookies.added(to: TransportRequest(method: "GET", url: Self.url, headers: ["Cookie": "own=1"]))
        #expect(request.headers.value(for: "Cookie") == "own=1")
    }

    @Test func sessionsThatWantNoCookiesGetNone() {
        #expect(self.cookies { $0.httpCookieStorage = nil } == nil)
        #expect(self.cookies { $0.httpShouldSetCookies = false } == nil)
        #expect(self.cookies { $0.httpCookieAcceptPolicy = .never } == nil)
        var request = URLRequest(url: Self.url)
        request.httpShouldHandleCookies = false
        #expect(LoadCookies(.ephemeral, request: request) == nil)
    }
}
