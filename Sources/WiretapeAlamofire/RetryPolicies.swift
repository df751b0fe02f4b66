public import Foundation
public import Wiretape

extension HTTPSession.RetryPolicy {
    /// A policy with Alamofire's labels.
    ///
    /// - Parameters:
    ///   - exponentialBackoffBase: at least 1.
    ///   - exponentialBackoffScale: seconds before the first retry.
    public init(
        retryLimit: UInt, exponentialBackoffBase: UInt = 2, exponentialBackoffScale: Double = 0.5,
        retryableHTTPMethods: Set<HTTPSession.Method> = HTTPSession.Method.idempotent,
        retryableHTTPStatusCodes: Set<Int> = HTTPSession.RetryPolicy.defaultRetryableStatusCodes
    ) {
        self.init(
            retryLimit: Int(clamping: retryLimit),
            backoff: ExponentialBackoff(base: exponentialBackoffBase, scale: .seconds(exponentialBackoffScale), jitter: 0),
            retryableMethods: retryableHTTPMethods, retryableStatusCodes: retryableHTTPStatusCodes)
    }

    public var exponentialBackoffBase: UInt { self.backoff.base }
    public var retryableHTTPMethods: Set<HTTPSession.Method> { self.retryableMethods }
    public var retryableHTTPStatusCodes: Set<Int> { self.retryableStatusCodes }
}

extension HTTPSession.RequestInterceptor where Self == HTTPSession.RetryPolicy {
    public static var retryPolicy: HTTPSession.RetryPolicy { HTTPSession.RetryPolicy() }

    public static func retryPolicy(
        retryLimit: UInt, exponentialBackoffBase: UInt = 2, exponentialBackoffScale: Double = 0.5,
        retryableHTTPMethods: Set<HTTPSession.Method> = HTTPSession.Method.idempotent,
        retryableHTTPStatusCodes: Set<Int> = HTTPSession.RetryPolicy.defaultRetryableStatusCodes
    ) -> HTTPSession.RetryPolicy {
        HTTPSession.RetryPolicy(
            retryLimit: retryLimit, exponentialBackoffBase: exponentialBackoffBase, exponentialBackoffScale: exponentialBackoffScale,
            retryableHTTPMethods: retryableHTTPMethods, retryableHTTPStatusCodes: retryableHTTPStatusCodes)
    }

    /// Alamofire's name of `connectionLost`.
    public static var connectionLostRetryPolicy: HTTPSession.RetryPolicy { .connectionLost() }
}

/// Alamofire's name: makes a policy that retries idempotent requests whose connection was lost.
public func ConnectionLostRetryPolicy(
    retryLimit: UInt = UInt(HTTPSession.RetryPolicy.defaultRetryLimit), exponentialBackoffBase: UInt = 2,
    exponentialBackoffScale: Double = 0.5,
    retryableHTTPMethods: Set<HTTPSession.Method> = HTTPSession.Method.idempotent
) -> HTTPSession.RetryPolicy {
    .connectionLost(
        retryLimit: Int(clamping: retryLimit),
        backoff: .init(base: exponentialBackoffBase, scale: .seconds(exponentialBackoffScale), jitter: 0),
        retryableMethods: retryableHTTPMethods)
}
