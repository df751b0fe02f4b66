import Foundation
import Testing
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct AdapterTests {
    @Test func aClosureChangesTheRequestAndRetriesNothing() async throws {
        let adapter: some RequestInterceptor = Adapter { request, context in
            var request = request
            request.setValue("\(context.retryCount)", forHTTPHeaderField: "X-Retry")
            return request
        }
        let request = URLRequest(url: try #require(URL(string: "http://a/")))
        let context = RequestContext(id: UUID(), retryCount: 2)
        #expect(try await adapter.adapt(request, for: context).value(forHTTPHeaderField: "X-Retry") == "2")
        guard case .doNotRetry = await adapter.retry(context, dueTo: CancellationError()) else {
            Issue.record("an adapter has asked for a retry")
            return
        }
    }

    @Test func whatItThrowsEndsTheRequest() async throws {
        let adapter: any RequestAdapter = .adapter { _, _ in throw CancellationError() }
        await #expect(throws: CancellationError.self) {
            try await adapter.adapt(URLRequest(url: URL(fileURLWithPath: "/")), for: RequestContext(id: UUID()))
        }
    }
}
