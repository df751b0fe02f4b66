#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

/// A closure as an adapter.
public struct Adapter: RequestInterceptor {
    private let adapt: @Sendable (URLRequest, RequestContext) async throws -> URLRequest

    public init(_ adapt: @escaping @Sendable (URLRequest, RequestContext) async throws -> URLRequest) { self.adapt = adapt }

    public func adapt(_ request: URLRequest, for context: RequestContext) async throws -> URLRequest {
        try await self.adapt(request, context)
    }
}

extension RequestAdapter where Self == Adapter {
    public static func adapter(_ adapt: @escaping @Sendable (URLRequest, RequestContext) async throws -> URLRequest) -> Adapter {
        Adapter(adapt)
    }
}
