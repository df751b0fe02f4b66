import Foundation
import Testing
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct RedirectorTests {
    private func answer(of handler: any RedirectHandler) async throws -> String? {
        let url = try #require(URL(string: "http://a/x"))
        let proposed = URLRequest(url: try #require(URL(string: "http://a/y")))
        return await handler.redirect(HTTPResponse(url: url, status: 302), to: proposed, for: RequestContext(id: UUID()))?.url?
            .absoluteString
    }

    @Test func theThreeAnswers() async throws {
        #expect(try await self.answer(of: .follow) == "http://a/y")
        #expect(try await self.answer(of: .doNotFollow) == nil)
        let modified = try await self.answer(
            of: .modify { proposed, response, _ in
                var changed = proposed
                changed.url = proposed.url?.appending(path: "\(response.status)")
                return changed
            })
        #expect(modified == "http://a/y/302")
        #expect(try await self.answer(of: .modify { _, _, _ in nil }) == nil)
        #expect(try await self.answer(of: Redirector.follow) == "http://a/y")
    }
}
