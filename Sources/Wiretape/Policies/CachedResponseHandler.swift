#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

extension HTTPSession {
    /// Decides what URLSession puts into its cache.
    ///
    /// Set in a session's configuration or a `LiveTransport`, and called only on Apple platforms: on Linux, URLSession fills no cache.
    /// Never called in a replay: a cassette is not a cache.
    public protocol CachedResponseHandler: Sendable {
        /// - Returns: what to cache; nil caches nothing.
        func cachedResponse(_ proposed: CachedURLResponse, for request: URLRequest) async -> CachedURLResponse?
    }

    /// The usual decisions about caching.
    public struct ResponseCacher: CachedResponseHandler {
        private enum Behaviour: Sendable {
            case cache
            case doNotCache
            case modify(@Sendable (CachedURLResponse, URLRequest) async -> CachedURLResponse?)
        }

        private let behaviour: Behaviour

        /// As proposed.
        public static let cache = ResponseCacher(behaviour: .cache)

        public static let doNotCache = ResponseCacher(behaviour: .doNotCache)

        /// Caches what the closure returns; nil caches nothing.
        public static func modify(
            _ change: @escaping @Sendable (_ proposed: CachedURLResponse, _ request: URLRequest) async -> CachedURLResponse?
        ) -> ResponseCacher {
            ResponseCacher(behaviour: .modify(change))
        }

        public func cachedResponse(_ proposed: CachedURLResponse, for request: URLRequest) async -> CachedURLResponse? {
            switch self.behaviour {
            case .cache: proposed
            case .doNotCache: nil
            case .modify(let change): await change(proposed, request)
            }
        }
    }
}

extension HTTPSession.CachedResponseHandler where Self == HTTPSession.ResponseCacher {
    public static var cache: HTTPSession.ResponseCacher { HTTPSession.ResponseCacher.cache }
    public static var doNotCache: HTTPSession.ResponseCacher { HTTPSession.ResponseCacher.doNotCache }

    public static func modify(
        _ change: @escaping @Sendable (_ proposed: CachedURLResponse, _ request: URLRequest) async -> CachedURLResponse?
    ) -> HTTPSession.ResponseCacher {
        HTTPSession.ResponseCacher.modify(change)
    }
}
