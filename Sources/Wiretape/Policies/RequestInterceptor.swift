/// Adapts and retries.
public protocol RequestInterceptor: RequestAdapter, RequestRetrier {}
