/// What a retrier says.
public enum RetryResult: Sendable {
    case retry
    /// After a time on the session's clock: none where answers are replayed.
    case retryAfter(Duration)
    case doNotRetry
    /// The request fails with this error in place of its own.
    case doNotRetryWithError(any Error)
}
