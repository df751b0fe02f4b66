/// Decides whether a request that failed is sent again.
public protocol RequestRetrier: Sendable {
    /// - Parameter error: of the transport, the validation or an adapter.
    func retry(_ context: RequestContext, dueTo error: any Error) async -> RetryResult
}
