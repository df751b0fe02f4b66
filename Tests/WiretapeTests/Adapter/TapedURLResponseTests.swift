import Foundation
import Testing

@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct TapedURLResponseTests {
    private static let url = URL(string: "http://here.test/a.json") ?? URL(fileURLWithPath: "/")

    @Test func itIsWhatURLSessionWouldHaveMade() throws {
        let head = HTTPResponse(
            url: Self.url, status: 203,
            headers: ["Content-Type": "application/json; charset=UTF-8", "Content-Length": "12", "x-Spelled": "so"])
        let response = try #require(TapedURLResponse(head))
        #expect(response.url == Self.url)
        #expect(response.statusCode == 203)
        #expect(response.mimeType == "application/json")
        #expect(response.textEncodingName == "utf-8")
        #expect(response.expectedContentLength == 12)
        #expect(response.value(forHTTPHeaderField: "X-SPELLED") == "so")
        #expect(response.head == head)
    }

    @Test func duplicatesAreJoinedUnderTheFirstSpelling() {
        let fields = TapedURLResponse.fields([("Set-Cookie", "a=1"), ("X-One", "1"), ("set-cookie", "b=2")].headers)
        #expect(fields == ["Set-Cookie": "a=1, b=2", "X-One": "1"])
    }

    @Test func itHasNoURLForAsLongAsURLSessionLooksForAChallenge() throws {
        let response = try #require(TapedURLResponse(HTTPResponse(url: Self.url, status: 401)))
        TapedURLResponse.$isFinishing.withValue(true) { #expect(response.url == nil) }
        #expect(response.url == Self.url)
    }
}

extension [(String, String)] {
    fileprivate var headers: HTTPHeaders { HTTPHeaders(self.map { HTTPHeader(name: $0.0, value: $0.1) }) }
}
