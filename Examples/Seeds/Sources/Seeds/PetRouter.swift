import Foundation
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The requests of an app in one place.
public enum PetRouter: HTTPSession.URLRequestConvertible {
    case pets(URL)
    case pet(URL, id: Int)
    case add(URL, name: String)

    public func asURLRequest() throws -> URLRequest {
        switch self {
        case .pets(let url): return try URLRequest(url: url.appendingPathComponent("pets"), method: .get)
        case .pet(let url, let id): return try URLRequest(url: url.appendingPathComponent("pet/\(id)"), method: .get)
        case .add(let url, let name):
            let request = try URLRequest(url: url.appendingPathComponent("echo"), method: .post)
            return try HTTPSession.JSONParameterEncoder().encode(["name": name], into: request)
        }
    }
}

public struct Pet: Codable, Sendable, Equatable {
    public var id: Int
    public var name: String

    public init(id: Int, name: String) {
        self.id = id
        self.name = name
    }
}

/// What `/echo` says of a request.
public struct Echo: Codable, Sendable {
    public var method: String
    public var query: [[String]]
    public var type: String
    public var size: Int
    public var text: String
}
