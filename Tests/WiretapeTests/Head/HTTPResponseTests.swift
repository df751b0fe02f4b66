import Foundation
import Testing
@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct HTTPResponseFoundationTests {
    @Test func theViewJoinsDuplicates() throws {
        let response = HTTPSession.Response(url: try "http://a.test/x".asURL(), status: 418, headers: ["A": "1", "A": "2"])
        let view = try #require(response.httpURLResponse)
        #expect(view.statusCode == 418 && view.url == response.url)
        #expect(view.value(forHTTPHeaderField: "a") == "1, 2")
    }

    @Test func theSizeIsKnownWhereTheBodyHasNoCoding() throws {
        func size(_ headers: HTTPSession.Headers) throws -> Int64? {
            HTTPSession.Response(url: try "http://a.test/x".asURL(), status: 200, headers: headers).bodySize
        }
        #expect(try size(["Content-Length": "12"]) == 12)
        #expect(try size(["Content-Length": "-1"]) == nil)
        #expect(try size(["Content-Length": "x"]) == nil)
        #expect(try size([:]) == nil)
        #expect(try size(["Content-Length": "12", "Content-Encoding": "br"]) == nil)
    }
}
