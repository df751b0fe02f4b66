import Foundation
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A token that expires.
public struct MemberToken: Codable, Sendable, HTTPSession.AuthenticationCredential {
    public var access_token: String
    public var expires: Double

    public init(access_token: String, expires: Double) {
        self.access_token = access_token
        self.expires = expires
    }

    /// The server decides.
    public var requiresRefresh: Bool { false }
}

/// Asks for a new token where the server refuses the old one.
public struct MemberAuthenticator: HTTPSession.Authenticator {
    private let url: URL
    private let session: HTTPSession

    public init(_ url: URL, session: HTTPSession) {
        self.url = url
        self.session = session
    }

    public func apply(_ credential: MemberToken, to request: inout URLRequest) {
        request.headers.update(.authorization(bearerToken: credential.access_token))
    }

    public func refresh(_ credential: MemberToken) async throws -> MemberToken {
        try await self.session.post(
            self.url.appendingPathComponent("token"), json: ["refresh_token": credential.access_token], as: MemberToken.self)
    }
}

/// Adds a key to each request, and sends it once more if the server wants one.
public struct KeyInterceptor: HTTPSession.RequestInterceptor {
    public init() {}

    public func adapt(_ request: URLRequest, for context: HTTPSession.RequestContext) async throws -> URLRequest {
        var request = request
        if context.retryCount > 0 { request.headers.update(name: "X-Key", value: "demo") }
        return request
    }

    public func retry(_ context: HTTPSession.RequestContext, dueTo error: any Error) async -> HTTPSession.RetryResult {
        context.response?.status == 403 && context.retryCount < 1 ? .retry : .doNotRetry
    }
}
