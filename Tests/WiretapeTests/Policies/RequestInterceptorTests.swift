import Foundation
import Testing
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct RequestInterceptorTests {
    private struct Idle: RequestInterceptor {}

    @Test func whoWritesNothingChangesNothing() async throws {
        let request = URLRequest(url: try #require(URL(string: "http://a/")))
        #expect(try await Idle().adapt(request, for: RequestContext(id: UUID())) == request)
        guard case .doNotRetry = await Idle().retry(RequestContext(id: UUID()), dueTo: CancellationError()) else {
            Issue.record("a retry that nobody asked for")
            return
        }
    }
}
