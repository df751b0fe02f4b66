#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

/// Adapts and retries.
///
/// Who writes only one half has the other from here: a request goes as it is, and a failure stays one.
public protocol RequestInterceptor: RequestAdapter, RequestRetrier {}

extension RequestInterceptor {
    public func adapt(_ request: URLRequest, for context: RequestContext) async throws -> URLRequest { request }

    public func retry(_ context: RequestContext, dueTo error: any Error) async -> RetryResult { .doNotRetry }
}
