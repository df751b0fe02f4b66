import ClientTestSupport
import Foundation
import Testing

@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct LiveDelegateTests {
    @Test func manyExchangesAtOnceDoNotMixUp() async throws {
        let origin = try LoopbackOrigin { request in
            [.text("HTTP/1.1 200 OK\r\nContent-Length: \(request.target.utf8.count)\r\n\r\n\(request.target)")]
        }
        let transport = LiveTransport()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<60 {
                group.addTask {
                    let log = await transport.exchange(.make("GET", "\(origin.url)/\(number)"))
                    #expect(log.lines == ["head 200", "chunk /\(number)", "end"])
                }
            }
        }
    }

    /// Of a proposal, asked as URLSession asks.
    private func kept(by handler: (any CachedResponseHandler)?) async throws -> Data? {
        let delegate = LiveDelegate(serverTrust: nil, cachedResponseHandler: handler)
        let url = try #require(URL(string: "http://cached.invalid/"))
        let response = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        let task = session.dataTask(with: url)
        return await withCheckedContinuation { answer in
            delegate.urlSession(
                session, dataTask: task, willCacheResponse: CachedURLResponse(response: response, data: Data("new".utf8))
            ) { answer.resume(returning: $0?.data) }
        }
    }

    @Test func theHandlerSaysWhatIsCached() async throws {
        #expect(try await self.kept(by: nil) == nil)
        #expect(try await self.kept(by: .doNotCache) == nil)
        #expect(try await self.kept(by: .cache) == Data("new".utf8))
        let modifier = ResponseCacher.modify { proposed, request in
            CachedURLResponse(response: proposed.response, data: proposed.data + Data((request.url?.path ?? "").utf8))
        }
        #expect(try await self.kept(by: modifier) == Data("new/".utf8))
    }
}
