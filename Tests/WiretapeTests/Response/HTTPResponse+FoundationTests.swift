import Foundation
import Testing

@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct HTTPResponseFoundationTests {
    @Test func theViewJoinsDuplicates() throws {
        let response = HTTPResponse(url: try "http://a.test/x".asURL(), status: 418, headers: ["A": "1", "A": "2"])
        let view = try #require(response.httpURLResponse)
        #expect(view.statusCode == 418 && view.url == response.url)
        #expect(view.value(forHTTPHeaderField: "a") == "1, 2")
    }

    @Test(arguments: [
        (["Content-Length": "12"] as HTTPHeaders, Int64(12) as Int64?), (["Content-Length": "-1"], nil), (["Content-Length": "x"], nil), ([:], nil),
        (["Content-Length": "12", "Content-Encoding": "br"], nil),
    ])
    func theSizeIsKnownWhereTheBodyHasNoCoding(headers: HTTPHeaders, size: Int64?) throws {
        #expect(HTTPResponse(url: try "http://a.test/x".asURL(), status: 200, headers: headers).bodySize == size)
    }
}
