#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

/// Knows how a kind of credential is used, refused and refreshed; `AuthenticationInterceptor` knows when.
public protocol Authenticator<Credential>: Sendable {
    associatedtype Credential: AuthenticationCredential

    /// Puts the credential onto a request. Twice is as good as once.
    func apply(_ credential: Credential, to request: inout URLRequest)

    /// Gets a new credential for an old one.
    ///
    /// Requests that are made in here, in the same task, are not adapted by the interceptor that asks: they carry what is put on them here,
    /// and wait for nothing. The task has the task-local values of the request that asked first, its cassette too.
    /// - Throws: what all requests that wait are to fail with.
    func refresh(_ credential: Credential) async throws -> Credential

    /// Whether a request failed because of its credential. A 401 is that where nothing else is written.
    func didRequest(_ request: URLRequest, with response: HTTPResponse, failDueToAuthenticationError error: any Error) -> Bool

    /// Whether a request went out with this credential, and not with one from before a refresh.
    ///
    /// Where nothing else is written: when applying it changes nothing.
    func isRequest(_ request: URLRequest, authenticatedWith credential: Credential) -> Bool
}

extension Authenticator {
    public func didRequest(_ request: URLRequest, with response: HTTPResponse, failDueToAuthenticationError error: any Error) -> Bool {
        response.status == 401
    }

    public func isRequest(_ request: URLRequest, authenticatedWith credential: Credential) -> Bool {
        var applied = request
        self.apply(credential, to: &applied)
        return applied.url == request.url && applied.allHTTPHeaderFields == request.allHTTPHeaderFields
    }
}
