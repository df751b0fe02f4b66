public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Puts `Encodable` parameters into the body as JSON, with `Content-Type: application/json` where the request says none.
public struct JSONParameterEncoder: ParameterEncoder {
    public var encoder: JSONEncoder

    /// With sorted keys, so that recordings are stable.
    public init() {
        self.init(encoder: JSONEncoder())
        self.encoder.outputFormatting = .sortedKeys
    }

    /// - Parameter encoder: not changed once it is given. Without `.sortedKeys` the body differs from run to run.
    public init(encoder: JSONEncoder) {
        self.encoder = encoder
    }

    public func encode<Parameters: Encodable & Sendable>(_ parameters: Parameters?, into request: URLRequest) throws -> URLRequest {
        guard let parameters else { return request }
        var request = request
        do {
            request.fillBody(try self.encoder.encode(parameters), contentType: "application/json")
        } catch {
            throw ParameterEncodingError(
                .notEncodable, "the parameters of type \"\(Parameters.self)\" make no JSON: \(error)", underlying: error)
        }
        return request
    }
}

extension ParameterEncoder where Self == JSONParameterEncoder {
    public static var json: JSONParameterEncoder { JSONParameterEncoder() }
    public static func json(encoder: JSONEncoder) -> JSONParameterEncoder { JSONParameterEncoder(encoder: encoder) }
}
