#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

/// Decides on each redirect.
public protocol RedirectHandler: Sendable {
    /// - Parameter proposed: what a browser would send (RFC 9110, 15.4): with the body where the method stays, without credentials where
    ///   the origin changes.
    /// - Returns: what to send, or nil to take the redirect itself for the answer.
    func redirect(_ response: HTTPResponse, to proposed: URLRequest, for context: RequestContext) async -> URLRequest?
}
