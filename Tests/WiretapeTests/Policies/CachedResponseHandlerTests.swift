import Foundation
import Testing
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct ResponseCacherTests {
    private func kept(by handler: any HTTPSession.CachedResponseHandler) async throws -> Data? {
        let url = try #require(URL(string: "http://a/"))
        let response = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
        return await handler.cachedResponse(CachedURLResponse(response: response, data: Data("abc".utf8)), for: URLRequest(url: url))?.data
    }

    @Test func theThreeAnswers() async throws {
        #expect(try await self.kept(by: .cache) == Data("abc".utf8))
        #expect(try await self.kept(by: .doNotCache) == nil)
        let modified = try await self.kept(
            by: .modify { CachedURLResponse(response: $0.response, data: Data($1.httpMethod?.utf8 ?? "".utf8)) })
        #expect(modified == Data("GET".utf8))
        #expect(try await self.kept(by: .modify { _, _ in nil }) == nil)
    }
}
