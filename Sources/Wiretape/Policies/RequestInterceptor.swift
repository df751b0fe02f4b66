public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// An adapter and a retrier in one.
///
/// By default, requests are sent unchanged, and failures are not retried.
public protocol RequestInterceptor: RequestAdapter, RequestRetrier {}

extension RequestInterceptor {
    public func adapt(_ request: URLRequest, for context: RequestContext) async throws -> URLRequest { request }

    public func retry(_ context: RequestContext, dueTo error: any Error) async -> RetryResult { .doNotRetry }
}

/// Changes a request before it is sent: adds a token, another host, a header.
///
/// The adapted request is recorded and matched. Runs again before each retry.
public protocol RequestAdapter: Sendable {
    /// - Throws: the error that the request fails with.
    func adapt(_ request: URLRequest, for context: RequestContext) async throws -> URLRequest
}

/// Decides whether a failed request is sent again.
public protocol RequestRetrier: Sendable {
    /// - Parameter error: of the transport, the validation or an adapter.
    func retry(_ context: RequestContext, dueTo error: any Error) async -> RetryResult
}

/// What adapters, retriers and handlers know about a request.
public struct RequestContext: Sendable {
    /// The same for all attempts of a request.
    public let id: UUID
    /// How often it was sent again: 0 for the first attempt.
    public var retryCount: Int
    /// As last sent; nil before the first attempt.
    public var request: URLRequest?
    /// Nil if there is no response.
    public var response: HTTPResponse?

    public init(id: UUID, retryCount: Int = 0, request: URLRequest? = nil, response: HTTPResponse? = nil) {
        self.id = id
        self.retryCount = retryCount
        self.request = request
        self.response = response
    }
}

/// A retrier's decision.
public enum RetryResult: Sendable {
    case retry
    /// After a delay on the session's clock, which takes no time in a replay.
    case retryAfter(Duration)
    case doNotRetry
    /// The request fails with this error instead of its own.
    case doNotRetryWithError(any Error)
}

/// Many adapters and retriers as one.
///
/// Adapters run in order, each on the result of the one before; the first error ends it. Retriers are called in order until one returns
/// something other than `doNotRetry`.
public struct Interceptor: RequestInterceptor {
    public let adapters: [any RequestAdapter]
    public let retriers: [any RequestRetrier]

    /// - Parameter interceptors: run after the others, as adapters and as retriers.
    public init(
        adapters: [any RequestAdapter] = [], retriers: [any RequestRetrier] = [], interceptors: [any RequestInterceptor] = []
    ) {
        self.adapters = adapters + interceptors
        self.retriers = retriers + interceptors
    }

    public init(
        adapt: @escaping @Sendable (URLRequest, RequestContext) async throws -> URLRequest,
        retry: @escaping @Sendable (RequestContext, any Error) async -> RetryResult
    ) {
        self.init(adapters: [Adapter(adapt)], retriers: [Retrier(retry)])
    }

    /// The request's own before the session's: the session's adapter gets the result of the request's, and its retrier is called last.
    public static func joining(request: (any RequestInterceptor)?, session: (any RequestInterceptor)?) -> (any RequestInterceptor)? {
        guard let request, let session else { return request ?? session }
        return Interceptor(interceptors: [request, session])
    }

    public func adapt(_ request: URLRequest, for context: RequestContext) async throws -> URLRequest {
        var request = request
        for adapter in self.adapters { request = try await adapter.adapt(request, for: context) }
        return request
    }

    public func retry(_ context: RequestContext, dueTo error: any Error) async -> RetryResult {
        for retrier in self.retriers {
            let result = await retrier.retry(context, dueTo: error)
            guard case .doNotRetry = result else { return result }
        }
        return .doNotRetry
    }
}

extension RequestInterceptor where Self == Interceptor {
    public static func interceptor(
        adapters: [any RequestAdapter] = [], retriers: [any RequestRetrier] = [], interceptors: [any RequestInterceptor] = []
    ) -> Interceptor {
        Interceptor(adapters: adapters, retriers: retriers, interceptors: interceptors)
    }
}

/// A closure as an adapter.
public struct Adapter: RequestInterceptor {
    private let adapt: @Sendable (URLRequest, RequestContext) async throws -> URLRequest

    public init(_ adapt: @escaping @Sendable (URLRequest, RequestContext) async throws -> URLRequest) { self.adapt = adapt }

    public func adapt(_ request: URLRequest, for context: RequestContext) async throws -> URLRequest {
        try await self.adapt(request, context)
    }
}

extension RequestAdapter where Self == Adapter {
    public static func adapter(_ adapt: @escaping @Sendable (URLRequest, RequestContext) async throws -> URLRequest) -> Adapter {
        Adapter(adapt)
    }
}

/// A closure as a retrier.
public struct Retrier: RequestInterceptor {
    private let retry: @Sendable (RequestContext, any Error) async -> RetryResult

    public init(_ retry: @escaping @Sendable (RequestContext, any Error) async -> RetryResult) { self.retry = retry }

    public func retry(_ context: RequestContext, dueTo error: any Error) async -> RetryResult { await self.retry(context, error) }
}

extension RequestRetrier where Self == Retrier {
    public static func retrier(_ retry: @escaping @Sendable (RequestContext, any Error) async -> RetryResult) -> Retrier { Retrier(retry) }
}
