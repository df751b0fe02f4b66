internal import TapeBytes
public import Wiretape

#if canImport(FoundationNetworking)
internal import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// Changes requests before they are sent, with Alamofire's signature.
///
/// If a completion is released without being called, the request fails instead of waiting forever. Calls after the first have no effect.
public protocol RequestAdapter: HTTPSession.RequestInterceptor {
    /// - Parameter session: shares everything with the request's session, but is another object.
    func adapt(
        _ urlRequest: URLRequest, for session: HTTPSession, completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void)
}

/// Decides whether failed requests are sent again, with Alamofire's signature.
///
/// If a completion is released without being called, the request fails with its own error. Calls after the first have no effect.
public protocol RequestRetrier: HTTPSession.RequestInterceptor {
    /// - Parameter session: shares everything with the request's session, but is another object.
    func retry(
        _ request: HTTPSession.Request, for session: HTTPSession, dueTo error: any Error,
        completion: @escaping @Sendable (HTTPSession.RetryResult) -> Void)
}

/// Both, with Alamofire's signatures. By default it changes nothing and retries nothing.
public protocol RequestInterceptor: RequestAdapter, RequestRetrier {}

extension RequestInterceptor {
    public func adapt(
        _ urlRequest: URLRequest, for session: HTTPSession, completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        completion(.success(urlRequest))
    }

    public func retry(
        _ request: HTTPSession.Request, for session: HTTPSession, dueTo error: any Error,
        completion: @escaping @Sendable (HTTPSession.RetryResult) -> Void
    ) {
        completion(.doNotRetry)
    }
}

extension RequestAdapter {
    public func adapt(_ request: URLRequest, for context: HTTPSession.RequestContext) async throws -> URLRequest {
        let session = context.sender.map { HTTPSession(of: $0) } ?? .default
        let result: Result<URLRequest, any Error> = await withCheckedContinuation { continuation in
            let completion = Completion(
                continuation, unless: .failure(CompletionError(method: "adapt(_:for:completion:)", of: "\(Self.self)")))
            self.adapt(request, for: session) { completion.call($0) }
        }
        return try result.get()
    }
}

extension RequestRetrier {
    public func retry(_ context: HTTPSession.RequestContext, dueTo error: any Error) async -> HTTPSession.RetryResult {
        // Only a context that no session has created has no sender, and then there is nothing to send again.
        guard let sender = context.sender else { return .doNotRetry }
        return await withCheckedContinuation { continuation in
            let completion = Completion(continuation, unless: .doNotRetry)
            self.retry(sender, for: HTTPSession(of: sender), dueTo: error) { completion.call($0) }
        }
    }
}

/// An interceptor released its completion without calling it.
public struct CompletionError: Error, Hashable, Sendable, CustomStringConvertible {
    let method: String
    let type: String

    init(method: String, of type: String) {
        self.method = method
        self.type = type
    }

    public var description: String {
        "\(self.method) of \"\(self.type)\" ended without calling its completion: call it on every way out, with an error too"
    }
}

/// Resumes a continuation with the first value, or with a fallback if it is released without one.
private final class Completion<Value: Sendable>: Sendable {
    private let continuation: Guarded<CheckedContinuation<Value, Never>?>
    private let fallback: Value

    init(_ continuation: CheckedContinuation<Value, Never>, unless fallback: Value) {
        self.continuation = Guarded(continuation)
        self.fallback = fallback
    }

    deinit { self.call(self.fallback) }

    func call(_ value: Value) {
        let continuation = self.continuation.withLock { continuation in
            defer { continuation = nil }
            return continuation
        }
        continuation?.resume(returning: value)
    }
}

// MARK: Closures

/// A closure with Alamofire's signature that changes requests.
public struct Adapter: RequestInterceptor {
    public typealias Handler =
        @Sendable (
            _ request: URLRequest, _ session: HTTPSession, _ completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
        ) -> Void

    private let handler: Handler

    public init(_ handler: @escaping Handler) { self.handler = handler }

    public func adapt(
        _ urlRequest: URLRequest, for session: HTTPSession, completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        self.handler(urlRequest, session, completion)
    }
}

/// A closure with Alamofire's signature that decides on retries.
public struct Retrier: RequestInterceptor {
    public typealias Handler =
        @Sendable (
            _ request: HTTPSession.Request, _ session: HTTPSession, _ error: any Error,
            _ completion: @escaping @Sendable (HTTPSession.RetryResult) -> Void
        ) -> Void

    private let handler: Handler

    public init(_ handler: @escaping Handler) { self.handler = handler }

    public func retry(
        _ request: HTTPSession.Request, for session: HTTPSession, dueTo error: any Error,
        completion: @escaping @Sendable (HTTPSession.RetryResult) -> Void
    ) {
        self.handler(request, session, error, completion)
    }
}

extension HTTPSession.Interceptor {
    /// Applies the changes of the adapters and the interceptors, in this order, and the decisions of the retriers and the interceptors.
    public init(
        adapters: [any RequestAdapter] = [], retriers: [any RequestRetrier] = [], interceptors: [any HTTPSession.RequestInterceptor] = []
    ) {
        self.init(adapters as [any HTTPSession.RequestInterceptor] + retriers + interceptors)
    }

    /// Combines an adapter and a retrier.
    public init(adapter: any RequestAdapter, retrier: any RequestRetrier) { self.init([adapter, retrier]) }
}

// MARK: Credentials

/// Knows how a kind of credential is applied, refused and refreshed, with Alamofire's signatures.
///
/// `refresh` is either Alamofire's, with a completion, or the `async` one of `HTTPSession.Authenticator`.
public protocol Authenticator<Credential>: HTTPSession.Authenticator {
    /// Whether a request failed because of its credential.
    func didRequest(_ urlRequest: URLRequest, with response: HTTPURLResponse, failDueToAuthenticationError error: any Error) -> Bool

    /// Gets a new credential for an old one.
    ///
    /// - Parameter session: the default one. The requests of this method are not adapted by the interceptor that calls it.
    func refresh(
        _ credential: Credential, for session: HTTPSession, completion: @escaping @Sendable (Result<Credential, any Error>) -> Void)
}

extension Authenticator {
    public func didRequest(
        _ request: URLRequest, with response: HTTPSession.Response, failDueToAuthenticationError error: any Error
    ) -> Bool {
        guard let response = response.httpURLResponse else { return false }
        return self.didRequest(request, with: response, failDueToAuthenticationError: error)
    }

    public func refresh(_ credential: Credential) async throws -> Credential {
        let result: Result<Credential, any Error> = await withCheckedContinuation { continuation in
            let completion = Completion(
                continuation, unless: .failure(CompletionError(method: "refresh(_:for:completion:)", of: "\(Self.self)")))
            self.refresh(credential, for: .default) { completion.call($0) }
        }
        return try result.get()
    }

    /// Never called: for authenticators whose `refresh` is `async`.
    public func refresh(
        _ credential: Credential, for session: HTTPSession, completion: @escaping @Sendable (Result<Credential, any Error>) -> Void
    ) {
        completion(.failure(CompletionError(method: "refresh(_:for:completion:)", of: "\(Self.self)")))
    }
}
