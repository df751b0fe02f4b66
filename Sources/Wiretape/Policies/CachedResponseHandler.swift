#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

/// Decides on what URLSession would put into its cache.
///
/// Given to a session's configuration or to a `LiveTransport`, and asked on Apple platforms alone: on Linux URLSession fills no cache and
/// asks nobody. Neither does a replay: cassettes are not caches.
public protocol CachedResponseHandler: Sendable {
    /// - Returns: what to keep, or nil to keep nothing.
    func cachedResponse(_ proposed: CachedURLResponse, for request: URLRequest) async -> CachedURLResponse?
}
