import Foundation
import TapeBytes
import Testing
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct RequestInterceptorTests {
    private struct Idle: HTTPSession.RequestInterceptor {}

    @Test func defaultImplementationsChangeNothing() async throws {
        let request = URLRequest(url: try #require(URL(string: "http://a/")))
        #expect(try await Idle().adapt(request, for: HTTPSession.RequestContext(id: UUID())) == request)
        guard case .doNotRetry = await Idle().retry(HTTPSession.RequestContext(id: UUID()), dueTo: CancellationError()) else {
            Issue.record("a retry that nobody asked for")
            return
        }
    }
}

@Suite struct AdaptingTests {
    @Test func aClosureChangesTheRequestAndRetriesNothing() async throws {
        let adapter: some HTTPSession.RequestInterceptor = .adapting { request, context in
            var request = request
            request.setValue("\(context.retryCount)", forHTTPHeaderField: "X-Retry")
            return request
        }
        let request = URLRequest(url: try #require(URL(string: "http://a/")))
        let context = HTTPSession.RequestContext(id: UUID(), retryCount: 2)
        #expect(try await adapter.adapt(request, for: context).value(forHTTPHeaderField: "X-Retry") == "2")
        guard case .doNotRetry = await adapter.retry(context, dueTo: CancellationError()) else {
            Issue.record("an adapter has asked for a retry")
            return
        }
    }

    @Test func errorOfAnAdapterIsThrown() async throws {
        let adapter: any HTTPSession.RequestInterceptor = .adapting { _, _ in throw CancellationError() }
        await #expect(throws: CancellationError.self) {
            try await adapter.adapt(URLRequest(url: URL(fileURLWithPath: "/")), for: HTTPSession.RequestContext(id: UUID()))
        }
    }
}

@Suite struct InterceptorTests {
    /// Records the calls, and adds its name to the request's path.
    private final class Calls: Sendable {
        private let names = Guarded<[String]>([])
        var all: [String] { self.names.withLock { $0 } }
        func note(_ name: String) { self.names.withLock { $0.append(name) } }

        func interceptor(_ name: String, _ result: HTTPSession.RetryResult = .doNotRetry) -> HTTPSession.Interceptor {
            HTTPSession.Interceptor(
                adapt: { request, _ in
                    self.note("adapt \(name)")
                    var request = request
                    request.url = request.url?.appending(path: name)
                    return request
                },
                retry: { _, _ in
                    self.note("ask \(name)")
                    return result
                })
        }
    }

    private struct Refusal: Error {}

    private func request() throws -> URLRequest { URLRequest(url: try #require(URL(string: "http://a"))) }
    private let context = HTTPSession.RequestContext(id: UUID())

    private func word(_ result: HTTPSession.RetryResult) -> String {
        switch result {
        case .retry: "retry"
        case .retryAfter(let delay): "after \(delay)"
        case .doNotRetry: "no"
        case .doNotRetryWithError(let error): "\(error)"
        }
    }

    @Test func adaptersRunInOrderEachOnTheWorkOfTheOneBefore() async throws {
        let calls = Calls()
        let whole = HTTPSession.Interceptor([calls.interceptor("1"), calls.interceptor("2"), calls.interceptor("3")])
        #expect(try await whole.adapt(self.request(), for: self.context).url?.absoluteString == "http://a/1/2/3")
        #expect(calls.all == ["adapt 1", "adapt 2", "adapt 3"])
    }

    @Test func theFirstErrorOfAnAdapterEndsIt() async throws {
        let calls = Calls()
        let whole = HTTPSession.Interceptor([calls.interceptor("1"), .adapting { _, _ in throw Refusal() }, calls.interceptor("3")])
        await #expect(throws: Refusal.self) { try await whole.adapt(self.request(), for: self.context) }
        #expect(calls.all == ["adapt 1"])
    }

    @Test(arguments: [
        ([HTTPSession.RetryResult.doNotRetry, .retry, .retryAfter(.seconds(1))], "retry", 2),
        ([.doNotRetry, .retryAfter(.seconds(1)), .retry], "after 1.0 seconds", 2),
        ([.doNotRetryWithError(Refusal()), .retry], "Refusal()", 1),
        ([.doNotRetry, .doNotRetry], "no", 2),
        ([], "no", 0),
    ])
    func retriersAreAskedUntilOneAnswers(results: [HTTPSession.RetryResult], wanted: String, asked: Int) async {
        let calls = Calls()
        let whole = HTTPSession.Interceptor(results.enumerated().map { calls.interceptor("\($0.offset)", $0.element) })
        #expect(self.word(await whole.retry(self.context, dueTo: Refusal())) == wanted)
        #expect(calls.all == (0..<asked).map { "ask \($0)" })
    }

    @Test func severalAreOneInTheirOrder() async throws {
        let calls = Calls()
        let joined: any HTTPSession.RequestInterceptor = .joining(calls.interceptor("first"), calls.interceptor("second", .retry))
        #expect(try await joined.adapt(self.request(), for: self.context).url?.path() == "/first/second")
        #expect(self.word(await joined.retry(self.context, dueTo: Refusal())) == "retry")
        #expect(calls.all == ["adapt first", "adapt second", "ask first", "ask second"])
    }
}

@Suite struct RetryingTests {
    @Test func aClosureDecidesAndTheRequestStaysAsItIs() async throws {
        let retrier = HTTPSession.Interceptor.retrying { context, error in
            context.retryCount < 2 && error is CancellationError ? .retryAfter(.seconds(context.retryCount)) : .doNotRetry
        }
        let request = URLRequest(url: try #require(URL(string: "http://a/?q=1")))
        #expect(try await retrier.adapt(request, for: HTTPSession.RequestContext(id: UUID())) == request)
        guard
            case .retryAfter(.seconds(1)) = await retrier.retry(
                HTTPSession.RequestContext(id: UUID(), retryCount: 1), dueTo: CancellationError())
        else {
            Issue.record("no retry after a second")
            return
        }
        let made: any HTTPSession.RequestInterceptor = .retrying { _, _ in .retry }
        guard case .retry = await made.retry(HTTPSession.RequestContext(id: UUID()), dueTo: CancellationError()) else {
            Issue.record("no retry")
            return
        }
    }
}
