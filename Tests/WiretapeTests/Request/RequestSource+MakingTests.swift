import Foundation
import Testing

@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct RequestSourceMakingTests {
    @Test func aPlainRequestTakesTheTypeOfItsContentUnlessItHasOne() throws {
        let content: @Sendable () throws -> RequestContent = { RequestContent(body: .data(Data("x".utf8)), type: "a/b") }
        let plain = try RequestSource.plain("http://a.test/", .post, ["X": "1"], body: content, nil).make()
        #expect(plain.request.headers == ["X": "1", "Content-Type": "a/b"])
        let own = try RequestSource.plain("http://a.test/", .post, ["content-type": "c/d"], body: content, nil).make()
        #expect(own.request.headers == ["content-type": "c/d"])
        #expect(own.idleTimeout == nil)
    }

    @Test func aConvertedRequestKeepsItsBodyAndItsTimeout() throws {
        var given = URLRequest(url: try "http://a.test/".asURL())
        given.httpMethod = "PATCH"
        given.httpBody = Data("own".utf8)
        given.timeoutInterval = 0.5
        let draft = try RequestSource.converted(given, spoolFolder: nil).make()
        #expect(draft.request.method == "PATCH")
        #expect(draft.request.body.size == 3)
        #expect(draft.idleTimeout == .milliseconds(500))
        let other = try RequestSource.converted(given, body: { RequestContent(body: .data(Data("other".utf8))) }, spoolFolder: nil).make()
        #expect(other.request.body.size == 5)
    }

    @Test func anEncoderKeepsTheOrderOfFields() throws {
        let source = RequestSource.encoded("http://a.test/", .get, ["Z": "1", "A": "2", "Z": "3"], nil) {
            var request = $0
            request.setValue("new", forHTTPHeaderField: "X-New")
            return request
        }
        #expect(try source.make().request.headers == ["Z": "1", "A": "2", "Z": "3", "X-New": "new"])
    }

    @Test(arguments: [.infinity, .greatestFiniteMagnitude, 1e300])
    func aTimeoutWithoutEndIsALongOne(seconds: TimeInterval) throws {
        var request = try URLRequest(url: "http://a.test/", method: .get)
        request.timeoutInterval = seconds
        #expect(request.ownTimeout == .seconds(1_000_000_000))
    }
}
