import Foundation
import Testing
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct RetrierTests {
    @Test func aClosureDecidesAndTheRequestStaysAsItIs() async throws {
        let retrier = Retrier { context, error in
            context.retryCount < 2 && error is CancellationError ? .retryAfter(.seconds(context.retryCount)) : .doNotRetry
        }
        let request = URLRequest(url: try #require(URL(string: "http://a/?q=1")))
        #expect(try await retrier.adapt(request, for: RequestContext(id: UUID())) == request)
        guard case .retryAfter(.seconds(1)) = await retrier.retry(RequestContext(id: UUID(), retryCount: 1), dueTo: CancellationError())
        else {
            Issue.record("no retry after a second")
            return
        }
        let made: any RequestRetrier = .retrier { _, _ in .retry }
        guard case .retry = await made.retry(RequestContext(id: UUID()), dueTo: CancellationError()) else {
            Issue.record("no retry")
            return
        }
    }
}
