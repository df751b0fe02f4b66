#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

/// Changes a request before it goes out: adds a token, another host, a header.
///
/// What is recorded and what is matched is the adapted request. Runs again before each retry.
public protocol RequestAdapter: Sendable {
    /// - Throws: whatever the request is to fail with.
    func adapt(_ request: URLRequest, for context: RequestContext) async throws -> URLRequest
}
