public import Foundation
public import Wiretape

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension HTTPSession.Redirector {
    /// Alamofire's behaviors. A redirect has no `URLSessionTask` here: the closure of `modify` gets the request and the response.
    public enum Behavior: Sendable {
        case follow
        case doNotFollow
        case modify(@Sendable (_ request: URLRequest, _ response: HTTPURLResponse) -> URLRequest?)
    }

    public init(behavior: Behavior) {
        switch behavior {
        case .follow: self = .follow
        case .doNotFollow: self = .doNotFollow
        case .modify(let change):
            self = .modify { proposed, response, _ in response.httpURLResponse.flatMap { change(proposed, $0) } }
        }
    }
}

extension HTTPSession.ResponseCacher {
    /// Alamofire's behaviors. The closure of `modify` gets only the response.
    public enum Behavior: Sendable {
        case cache
        case doNotCache
        case modify(@Sendable (_ response: CachedURLResponse) -> CachedURLResponse?)
    }

    public init(behavior: Behavior) {
        switch behavior {
        case .cache: self = .cache
        case .doNotCache: self = .doNotCache
        case .modify(let change): self = .modify { proposed, _ in change(proposed) }
        }
    }
}

extension HTTPSession.URLEncodedFormEncoder.NilEncoding {
    /// - Parameter encoding: the value of nil; if it is nil itself, the name is left out.
    public init(encoding: @escaping @Sendable () -> String?) {
        self = encoding().map { value in .custom { value } } ?? .dropKey
    }
}

extension HTTPSession.URLEncodedFormEncoder.KeyPathEncoding {
    /// - Parameter encoding: makes the text that follows the parent's name from a child's name.
    public init(encoding: @escaping @Sendable (_ subkey: String) -> String) { self = .custom(encoding) }
}

public typealias NilEncoding = HTTPSession.URLEncodedFormEncoder.NilEncoding
