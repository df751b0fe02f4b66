public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension HTTPSession {
    /// Changes requests before they are sent, and decides whether failed ones are sent again.
    ///
    /// By default, requests are sent unchanged, and failures are not retried. Closures are interceptors too: see ``HTTPSession/Interceptor``.
    public protocol RequestInterceptor: Sendable {
        /// Changes a request before it is sent: adds a token, another host, a header.
        ///
        /// The adapted request is recorded and matched. Runs again before each retry.
        ///
        /// - Throws: the error that the request fails with.
        func adapt(_ request: URLRequest, for context: RequestContext) async throws -> URLRequest

        /// Decides whether a failed request is sent again.
        ///
        /// - Parameter error: the error of the transport, the validation or an interceptor.
        func retry(_ context: RequestContext, dueTo error: any Error) async -> RetryResult
    }
}

extension HTTPSession.RequestInterceptor {
    public func adapt(_ request: URLRequest, for context: HTTPSession.RequestContext) async throws -> URLRequest { request }

    public func retry(_ context: HTTPSession.RequestContext, dueTo error: any Error) async -> HTTPSession.RetryResult { .doNotRetry }
}

extension HTTPSession {
    /// The information that interceptors and redirect handlers get about a request.
    public struct RequestContext: Sendable {
        /// The same for all attempts of a request.
        public let id: UUID
        /// How often it was sent again: 0 for the first attempt.
        public var retryCount: Int
        /// The request as it was last sent; nil before the first attempt.
        public var request: URLRequest?
        /// Nil if there is no response.
        public var response: Response?
        /// The request itself; nil in a context that the session did not create.
        package var sender: Request?

        public init(id: UUID, retryCount: Int = 0, request: URLRequest? = nil, response: Response? = nil) {
            self.id = id
            self.retryCount = retryCount
            self.request = request
            self.response = response
        }
    }

    /// Whether a failed request is sent again.
    public enum RetryResult: Sendable {
        case retry
        /// After a delay on the session's clock, which takes no time in a replay.
        case retryAfter(Duration)
        case doNotRetry
        /// The request fails with this error instead of its own.
        case doNotRetryWithError(any Error)
    }

    /// Combines closures, or several interceptors, into one interceptor.
    ///
    /// Several interceptors run in order. Each gets the request as the previous one left it, and the first error ends the request. They are
    /// asked for a retry in the same order, until one returns something other than `doNotRetry`.
    public struct Interceptor: RequestInterceptor {
        public typealias Adapt = @Sendable (_ request: URLRequest, _ context: RequestContext) async throws -> URLRequest
        public typealias Retry = @Sendable (_ context: RequestContext, _ error: any Error) async -> RetryResult

        private let adapt: Adapt
        private let retry: Retry

        public init(adapt: @escaping Adapt = { request, _ in request }, retry: @escaping Retry = { _, _ in .doNotRetry }) {
            self.adapt = adapt
            self.retry = retry
        }

        public init(_ interceptors: [any RequestInterceptor]) {
            self.init { request, context in
                var request = request
                for interceptor in interceptors { request = try await interceptor.adapt(request, for: context) }
                return request
            } retry: { context, error in
                for interceptor in interceptors {
                    let result = await interceptor.retry(context, dueTo: error)
                    guard case .doNotRetry = result else { return result }
                }
                return .doNotRetry
            }
        }

        public func adapt(_ request: URLRequest, for context: RequestContext) async throws -> URLRequest {
            try await self.adapt(request, context)
        }

        public func retry(_ context: RequestContext, dueTo error: any Error) async -> RetryResult { await self.retry(context, error) }
    }
}

extension HTTPSession.RequestInterceptor where Self == HTTPSession.Interceptor {
    /// A closure that changes requests.
    public static func adapting(_ adapt: @escaping HTTPSession.Interceptor.Adapt) -> HTTPSession.Interceptor {
        HTTPSession.Interceptor(adapt: adapt)
    }

    /// A closure that decides on retries.
    public static func retrying(_ retry: @escaping HTTPSession.Interceptor.Retry) -> HTTPSession.Interceptor {
        HTTPSession.Interceptor(retry: retry)
    }

    /// Several interceptors, in this order.
    public static func joining(_ interceptors: any HTTPSession.RequestInterceptor...) -> HTTPSession.Interceptor {
        HTTPSession.Interceptor(interceptors)
    }
}
