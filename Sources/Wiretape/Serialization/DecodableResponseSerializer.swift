public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// The body decoded as a type; for a type that is an `EmptyResponse`, its empty value where none came and none had to.
public struct DecodableResponseSerializer<Value: Decodable & Sendable>: ResponseSerializer {
    public let decoder: any DataDecoder
    public let dataPreprocessor: any DataPreprocessor
    public let emptyRequestMethods: Set<HTTPMethod>
    public let emptyResponseCodes: Set<Int>

    public init(
        of type: Value.Type = Value.self, dataPreprocessor: any DataPreprocessor = .passthrough, decoder: any DataDecoder = JSONDecoder(),
        emptyRequestMethods: Set<HTTPMethod> = [.head], emptyResponseCodes: Set<Int> = [204, 205]
    ) {
        self.decoder = decoder
        self.dataPreprocessor = dataPreprocessor
        self.emptyRequestMethods = emptyRequestMethods
        self.emptyResponseCodes = emptyResponseCodes
    }

    public func serialize(request: URLRequest?, response: HTTPResponse?, data: Data?, error: (any Error)?) throws -> Value {
        guard let data = try self.body(request: request, response: response, data: data, error: error) else {
            if let empty = (Value.self as? any EmptyResponse.Type)?.emptyValue() as? Value { return empty }
            throw SerializationError(
                .notEmptiable,
                "the response has no body, and \"\(Value.self)\" has no value for that: ask for \"Empty\", or make the type an EmptyResponse"
            )
        }
        do {
            return try self.decoder.decode(Value.self, from: data)
        } catch {
            throw SerializationError(
                .undecodable, "the body's \(data.count) octets are no \"\(Value.self)\": \(DecodingFailure.text(error))", underlying: error)
        }
    }
}

extension DownloadResponseSerializer {
    public static func decodable<Value: Decodable & Sendable>(
        of type: Value.Type, decoder: any DataDecoder = JSONDecoder()
    ) -> Self where Self == DecodableResponseSerializer<Value> {
        DecodableResponseSerializer(of: type, decoder: decoder)
    }
}
