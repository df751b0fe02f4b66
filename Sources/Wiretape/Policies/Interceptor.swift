#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

/// Many adapters and retriers as one.
///
/// Adapters run in order, each on what the one before it made; the first error ends it. Retriers are asked in order until one says anything
/// but `doNotRetry`.
public struct Interceptor: RequestInterceptor {
    public let adapters: [any RequestAdapter]
    public let retriers: [any RequestRetrier]

    /// - Parameter interceptors: behind the others, as adapters and as retriers.
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

    /// A request's own before the session's: the session's adapter sees what the request's made, and its retrier is asked last.
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

/// A closure as a retrier.
public struct Retrier: RequestInterceptor {
    private let retry: @Sendable (RequestContext, any Error) async -> RetryResult

    public init(_ retry: @escaping @Sendable (RequestContext, any Error) async -> RetryResult) { self.retry = retry }

    public func retry(_ context: RequestContext, dueTo error: any Error) async -> RetryResult { await self.retry(context, error) }
}

extension RequestRetrier where Self == Retrier {
    public static func retrier(_ retry: @escaping @Sendable (RequestContext, any Error) async -> RetryResult) -> Retrier { Retrier(retry) }
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
