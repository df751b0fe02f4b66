public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// What happened to one request of a session.
public struct SessionEvent: Sendable {
    public enum Kind: Sendable {
        case created
        /// An adapter has changed the request, or none wanted to.
        case adapted(URLRequest)
        /// An attempt goes out.
        case started(TransportRequest)
        /// From the transport, chunks and progress included.
        case transport(TransportEvent)
        case redirected(from: HTTPResponse, to: URLRequest?)
        case validated(error: (any Error)?)
        /// It is sent again.
        case retried(count: Int, after: Duration, dueTo: any Error)
        case suspended
        case resumed
        case cancelled
        /// A serializer has done its work.
        case serialized(duration: Duration, error: (any Error)?)
        case finished(error: (any Error)?)
    }

    /// Of the request.
    public var requestID: UUID
    public var kind: Kind

    public init(requestID: UUID, kind: Kind) {
        self.requestID = requestID
        self.kind = kind
    }
}
