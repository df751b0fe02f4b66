public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// What adapters, retriers and handlers know of the request they decide on.
public struct RequestContext: Sendable {
    /// Of the whole request, the same for all its attempts.
    public let id: UUID
    /// How often it was sent again: 0 for the first attempt.
    public var retryCount: Int
    /// As it went out last; nil before the first attempt.
    public var request: URLRequest?
    /// What came, when something came.
    public var response: HTTPResponse?

    public init(id: UUID, retryCount: Int = 0, request: URLRequest? = nil, response: HTTPResponse? = nil) {
        self.id = id
        self.retryCount = retryCount
        self.request = request
        self.response = response
    }
}
