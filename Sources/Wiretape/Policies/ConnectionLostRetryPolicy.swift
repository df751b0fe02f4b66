/// Sends idempotent requests again whose connection was lost, and no others: what mobile networks do all day.
public struct ConnectionLostRetryPolicy: RequestRetrier {
    public let policy: RetryPolicy

    public init(
        retryLimit: Int = RetryPolicy.defaultRetryLimit, backoff: ExponentialBackoff = ExponentialBackoff(),
        retryableMethods: Set<HTTPMethod> = HTTPMethod.idempotent
    ) {
        self.policy = RetryPolicy(
            retryLimit: retryLimit, backoff: backoff, retryableMethods: retryableMethods, retryableStatusCodes: [],
            retryableFailures: [.reset, .truncated])
    }

    public func retry(_ context: RequestContext, dueTo error: any Error) async -> RetryResult {
        await self.policy.retry(context, dueTo: error)
    }
}

extension RequestRetrier where Self == ConnectionLostRetryPolicy {
    public static var connectionLost: ConnectionLostRetryPolicy { ConnectionLostRetryPolicy() }
}
