#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

/// The usual answers to redirects.
public struct Redirector: RedirectHandler {
    private enum Behaviour: Sendable {
        case follow
        case doNotFollow
        case modify(@Sendable (URLRequest, HTTPResponse, RequestContext) async -> URLRequest?)
    }

    private let behaviour: Behaviour

    /// As proposed.
    public static let follow = Redirector(behaviour: .follow)

    /// The redirect itself is the answer, with its body.
    public static let doNotFollow = Redirector(behaviour: .doNotFollow)

    /// What the closure makes of the proposed request; nil takes the redirect itself for the answer.
    public static func modify(
        _ change: @escaping @Sendable (_ proposed: URLRequest, _ response: HTTPResponse, _ context: RequestContext) async -> URLRequest?
    ) -> Redirector {
        Redirector(behaviour: .modify(change))
    }

    public func redirect(_ response: HTTPResponse, to proposed: URLRequest, for context: RequestContext) async -> URLRequest? {
        switch self.behaviour {
        case .follow: proposed
        case .doNotFollow: nil
        case .modify(let change): await change(proposed, response, context)
        }
    }
}

extension RedirectHandler where Self == Redirector {
    public static var follow: Redirector { Redirector.follow }
    public static var doNotFollow: Redirector { Redirector.doNotFollow }

    public static func modify(
        _ change: @escaping @Sendable (_ proposed: URLRequest, _ response: HTTPResponse, _ context: RequestContext) async -> URLRequest?
    ) -> Redirector {
        Redirector.modify(change)
    }
}
