#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

/// The usual answers to what may be cached.
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

    /// What the closure makes of it; nil keeps nothing.
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

extension CachedResponseHandler where Self == ResponseCacher {
    public static var cache: ResponseCacher { ResponseCacher.cache }
    public static var doNotCache: ResponseCacher { ResponseCacher.doNotCache }

    public static func modify(
        _ change: @escaping @Sendable (_ proposed: CachedURLResponse, _ request: URLRequest) async -> CachedURLResponse?
    ) -> ResponseCacher {
        ResponseCacher.modify(change)
    }
}
