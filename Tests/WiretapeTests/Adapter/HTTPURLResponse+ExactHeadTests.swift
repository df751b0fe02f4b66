import Foundation
import Testing

@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct HTTPURLResponseExactHeadTests {
    @Test func aResponseOfOursHasTheHeadAsItCame() throws {
        let url = try #require(URL(string: "http://here.test/"))
        var headers = HTTPHeaders()
        headers.add(name: "Link", value: "<a>")
        headers.add(name: "link", value: "<b>")
        let head = HTTPResponse(url: url, status: 200, reason: "Fine", headers: headers, source: .replayed(cassette: "pets.json", id: 7))
        let response: HTTPURLResponse = try #require(TapedURLResponse(head))
        #expect(response.exactHead == head)
        #expect(response.exactHead?.headers.values(for: "Link") == ["<a>", "<b>"])
    }

    @Test func othersHaveNone() throws {
        let url = try #require(URL(string: "http://here.test/"))
        let response = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
        #expect(response.exactHead == nil)
    }
}
