/// A closure as a retrier.
public struct Retrier: RequestInterceptor {
    private let retry: @Sendable (RequestContext, any Error) async -> RetryResult

    public init(_ retry: @escaping @Sendable (RequestContext, any Error) async -> RetryResult) { self.retry = retry }

    public func retry(_ context: RequestContext, dueTo error: any Error) async -> RetryResult { await self.retry(context, error) }
}

extension RequestRetrier where Self == Retrier {
    public static func retrier(_ retry: @escaping @Sendable (RequestContext, any Error) async -> RetryResult) -> Retrier { Retrier(retry) }
}
