import ClientTestSupport
import Foundation
import Testing
@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct LiveTaskTests {
    @Test func uploadProgressReachesTheSize() async throws {
        let origin = try LoopbackOrigin { _ in [.text("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")] }
        let size = 3 << 20
        let log = try await LiveTransport().exchange("PUT", "\(origin.url)/", body: .data(Data(count: size)))
        let counts = log.events.compactMap { event -> Int? in
            if case .sent(let count, _) = event { Int(count) } else { nil }
        }
        #expect(counts.last == size)
        #expect(counts == counts.sorted())
        #expect(origin.requests.first?.body.count == size)
    }

    @Test func aFailureNamesItsRequest() async throws {
        let log = try await LiveTransport().exchange("GET", "http://127.0.0.1:1/x?y=1#z")
        #expect(log.failure?.message.hasPrefix("GET \"http://127.0.0.1:1/x?y=…\" failed: ") == true)
        #expect(log.failure?.cause.map { ($0 as NSError).code } == -1004)
    }
}

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

    /// The cached response for a proposal, requested as URLSession does.
    private func kept(by handler: (any HTTPSession.CachedResponseHandler)?) async throws -> Data? {
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
        let modifier = HTTPSession.ResponseCacher.modify { proposed, request in
            CachedURLResponse(response: proposed.response, data: proposed.data + Data((request.url?.path ?? "").utf8))
        }
        #expect(try await self.kept(by: modifier) == Data("new/".utf8))
    }
}

@Suite struct ReceivedHeadersTests {
    @Test(arguments: [
        ("a=1", ["a=1"]), ("a=1, b=2", ["a=1", "b=2"]), ("a=1,b=2", ["a=1", "b=2"]),
        ("a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT, b=2; Path=/", ["a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT", "b=2; Path=/"]),
        ("a=x,y; Path=/, b=", ["a=x,y; Path=/", "b="]), ("a=\"1, 2\"", ["a=\"1, 2\""]), ("", []),
    ])
    func joinedCookiesAreTakenApart(joined: String, cookies: [String]) {
        #expect(ReceivedHeaders.cookies(joined) == cookies)
    }

    @Test func fieldsComeInTheOrderOfTheirNames() {
        let list = ReceivedHeaders.list(["X-b": "1", "x-A": "2", "Set-Cookie": "a=1, b=2", 7: "no name"] as [AnyHashable: Any])
        #expect(list.map { "\($0.name): \($0.value)" } == ["Set-Cookie: a=1", "Set-Cookie: b=2", "x-A: 2", "X-b: 1"])
    }
}
