internal import TapeBytes

#if canImport(FoundationNetworking)
internal import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension HTTPSession {
    /// Puts a credential on each request, and refreshes it when it is expired or refused: once for all requests that wait for it.
    ///
    /// Requests that start during a refresh wait, and are sent with the new credential. Refused ones are sent again. If the refresh fails,
    /// they all fail. A request that is cancelled stops waiting, and the refresh continues for the others. A refused response must be an
    /// error (`validate()`): only errors lead to a retry.
    public final class AuthenticationInterceptor<A: Authenticator>: RequestInterceptor {
        private struct Shared {
            var state: RefreshState<A.Credential>
            var continuations: [UUID: CheckedContinuation<A.Credential, any Error>] = [:]

            mutating func take(_ waiters: [UUID]) -> [CheckedContinuation<A.Credential, any Error>] {
                waiters.compactMap { self.continuations.removeValue(forKey: $0) }
            }
        }

        private let authenticator: A
        private let shared: Guarded<Shared>
        private let time: ElapsedClock

        /// - Parameters:
        ///   - credential: nil before a login; requests fail with `missingCredential` until there is one.
        ///   - refreshWindow: limits the number of refreshes; nil for no limit.
        ///   - clock: measures the window. A replay takes no time, so that all its refreshes are in one window.
        public init(
            authenticator: A, credential: A.Credential? = nil, refreshWindow: RefreshWindow? = RefreshWindow(),
            clock: any Clock<Duration> = ContinuousClock()
        ) {
            self.authenticator = authenticator
            self.shared = Guarded(Shared(state: RefreshState(credential: credential, window: refreshWindow)))
            self.time = ElapsedClock(clock)
        }

        /// The current credential. Setting it ends a running refresh: waiting requests use the new one, or fail with `missingCredential` if
        /// it is nil.
        public var credential: A.Credential? {
            get { self.shared.withLock { $0.state.credential } }
            set {
                let woken = self.shared.withLock { shared in
                    let waiters = shared.state.set(newValue)
                    return shared.take(waiters)
                }
                let result = newValue.map { Result<A.Credential, any Error>.success($0) } ?? .failure(RefreshState<A.Credential>.missing)
                for continuation in woken { continuation.resume(with: result) }
            }
        }

        public func adapt(_ request: URLRequest, for context: RequestContext) async throws -> URLRequest {
            guard !self.isRefreshing else { return request }
            // Called outside the lock, because the credential's type is the caller's code.
            let (seen, generation) = self.current
            let requiresRefresh = seen?.requiresRefresh ?? false
            let credential = try await self.credential { state, waiter, time in
                state.wants(waiter, requiresRefresh: requiresRefresh, of: generation, at: time)
            }
            var request = request
            self.authenticator.apply(credential, to: &request)
            return request
        }

        public func retry(_ context: RequestContext, dueTo error: any Error) async -> RetryResult {
            guard !self.isRefreshing, let request = context.request, let response = context.response,
                self.authenticator.didRequest(request, with: response, failDueToAuthenticationError: error)
            else { return .doNotRetry }
            let (seen, generation) = self.current
            let isCurrent = seen.map { self.authenticator.isRequest(request, authenticatedWith: $0) } ?? false
            do {
                _ = try await self.credential { state, waiter, time in
                    state.wasRefused(context.id, waiter: waiter, isCurrent: isCurrent, of: generation, at: time)
                }
                return .retry
            } catch is CancellationError where Task.isCancelled {
                return .doNotRetry
            } catch {
                return .doNotRetryWithError(error)
            }
        }

        /// Whether the authenticator makes this request during its refresh: waiting for the refresh would be a deadlock.
        private var isRefreshing: Bool { RefreshScope.refreshing.contains(ObjectIdentifier(self)) }

        private var current: (credential: A.Credential?, generation: Int) {
            self.shared.withLock { ($0.state.credential, $0.state.generation) }
        }

        // MARK: Waiting

        /// The credential to continue with, at once or after a refresh.
        private func credential(
            _ event: @Sendable (inout RefreshState<A.Credential>, UUID, Duration) -> RefreshState<A.Credential>.Answer
        ) async throws -> A.Credential {
            let waiter = UUID()
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    let time = self.time.elapsed
                    let answer = self.shared.withLock { shared -> RefreshState<A.Credential>.Answer? in
                        // A later cancellation finds the waiter, since it takes the lock first.
                        guard !Task.isCancelled else { return nil }
                        let answer = event(&shared.state, waiter, time)
                        switch answer {
                        case .wait, .refresh: shared.continuations[waiter] = continuation
                        case .use, .fail: break
                        }
                        return answer
                    }
                    switch answer {
                    case nil: continuation.resume(throwing: CancellationError())
                    case .use(let credential): continuation.resume(returning: credential)
                    case .fail(let error): continuation.resume(throwing: error)
                    case .refresh(let credential, let number): self.refresh(credential, number: number)
                    case .wait: break
                    }
                }
            } onCancel: {
                let continuation = self.shared.withLock { shared in
                    shared.state.gaveUp(waiter)
                    return shared.continuations.removeValue(forKey: waiter)
                }
                continuation?.resume(throwing: CancellationError())
            }
        }

        /// Refreshes in a task of its own, which no request can cancel.
        private func refresh(_ credential: A.Credential, number: Int) {
            let scope = RefreshScope.refreshing.union([ObjectIdentifier(self)])
            Task {
                let result: Result<A.Credential, any Error>
                do {
                    let fresh = try await RefreshScope.$refreshing.withValue(scope) { try await self.authenticator.refresh(credential) }
                    result = .success(fresh)
                } catch {
                    result = .failure(error)
                }
                let woken = self.shared.withLock { shared in
                    let waiters =
                        switch result {
                        case .success(let fresh): shared.state.refreshed(number, to: fresh)
                        case .failure: shared.state.refreshFailed(number)
                        }
                    return shared.take(waiters)
                }
                for continuation in woken { continuation.resume(with: result) }
            }
        }
    }

    /// Knows how a kind of credential is applied, refused and refreshed; `AuthenticationInterceptor` knows when.
    public protocol Authenticator<Credential>: Sendable {
        associatedtype Credential: AuthenticationCredential

        /// Puts the credential on a request. Must be idempotent.
        func apply(_ credential: Credential, to request: inout URLRequest)

        /// Gets a new credential for an old one.
        ///
        /// Requests that this method makes in the same task are not adapted by the calling interceptor: they carry only the credentials
        /// that are set here, and do not wait. The task has the task-local values of the first waiting request, including its cassette.
        /// - Throws: the error that all waiting requests fail with.
        func refresh(_ credential: Credential) async throws -> Credential

        /// Whether a request failed because of its credential. By default: status 401.
        func didRequest(_ request: URLRequest, with response: Response, failDueToAuthenticationError error: any Error) -> Bool

        /// Whether a request was sent with this credential, not with one from before a refresh.
        ///
        /// By default: whether applying the credential changes nothing.
        func isRequest(_ request: URLRequest, authenticatedWith credential: Credential) -> Bool
    }
}

extension HTTPSession.Authenticator {
    public func didRequest(_ request: URLRequest, with response: HTTPSession.Response, failDueToAuthenticationError error: any Error)
        -> Bool
    {
        response.status == 401
    }

    public func isRequest(_ request: URLRequest, authenticatedWith credential: Credential) -> Bool {
        var applied = request
        self.apply(credential, to: &applied)
        return applied.url == request.url && applied.allHTTPHeaderFields == request.allHTTPHeaderFields
    }
}

extension HTTPSession {
    /// A credential for requests: a token and its data.
    public protocol AuthenticationCredential: Sendable {
        /// Whether to refresh it before the next request: it has expired, or is about to.
        var requiresRefresh: Bool { get }
    }
}

/// The interceptors that refresh in the current task.
private enum RefreshScope {
    @TaskLocal static var refreshing: Set<ObjectIdentifier> = []
}
