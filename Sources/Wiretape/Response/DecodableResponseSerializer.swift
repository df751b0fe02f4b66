public import Foundation
internal import TapeBytes

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension HTTPSession {
    /// The body decoded as a type; an `EmptyResponse` type's empty value if there is no body and none is required.
    public struct DecodableResponseSerializer<Value: Decodable & Sendable>: ResponseSerializer {
        public let decoder: any DataDecoder
        public let dataPreprocessor: any DataPreprocessor
        public let emptyRequestMethods: Set<Method>
        public let emptyResponseCodes: Set<Int>

        public init(
            of type: Value.Type = Value.self, dataPreprocessor: any DataPreprocessor = .passthrough,
            decoder: any DataDecoder = JSONDecoder(),
            emptyRequestMethods: Set<Method> = [.head], emptyResponseCodes: Set<Int> = [204, 205]
        ) {
            self.decoder = decoder
            self.dataPreprocessor = dataPreprocessor
            self.emptyRequestMethods = emptyRequestMethods
            self.emptyResponseCodes = emptyResponseCodes
        }

        public func serialize(request: URLRequest?, response: Response?, data: Data?, error: (any Error)?) throws -> Value {
            guard let data = try self.body(request: request, response: response, data: data, error: error) else {
                if let empty = (Value.self as? any EmptyResponse.Type)?.emptyValue() as? Value { return empty }
                throw SerializationError(
                    .notEmptiable,
                    "the response has no body, and \"\(Value.self)\" has no empty value: use \"Empty\", or make the type conform to EmptyResponse"
                )
            }
            do {
                return try self.decoder.decode(Value.self, from: data)
            } catch {
                throw SerializationError(
                    .undecodable, "could not decode \"\(Value.self)\" from the \(data.count)-byte body: \(DecodingFailure.text(error))",
                    cause: error)
            }
        }
    }
}

extension HTTPSession.DownloadResponseSerializer {
    public static func decodable<Value: Decodable & Sendable>(
        of type: Value.Type, decoder: any HTTPSession.DataDecoder = JSONDecoder()
    ) -> Self where Self == HTTPSession.DecodableResponseSerializer<Value> {
        HTTPSession.DecodableResponseSerializer(of: type, decoder: decoder)
    }
}

extension HTTPSession {
    /// Decodes values from bytes: `JSONDecoder`, `PropertyListDecoder` or a custom decoder.
    public protocol DataDecoder: Sendable {
        func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
    }
}

extension JSONDecoder: HTTPSession.DataDecoder {}
extension PropertyListDecoder: HTTPSession.DataDecoder {}

/// The text of a decoder's error: where, what was found, what was expected.
enum DecodingFailure {
    static func text(_ error: any Error) -> String {
        guard let error = error as? DecodingError else { return "\(error)" }
        switch error {
        case .keyNotFound(let key, let context):
            return
                "\(self.place(context.codingPath)) has no \"\(self.shown(key.stringValue))\"; make the property optional, or look at the body"
        case .valueNotFound(let type, let context):
            return "\(self.place(context.codingPath)) is null, expected \"\(type)\"; make the property optional"
        case .typeMismatch(let type, let context):
            return "\(self.place(context.codingPath)) is not of the expected type \"\(type)\"; change the property's type"
        case .dataCorrupted(let context):
            return "\(self.place(context.codingPath)): \(context.debugDescription)"
        @unknown default: return "\(error)"
        }
    }

    private static func place(_ path: [any CodingKey]) -> String { path.isEmpty ? "the body" : "\"\(self.shown(FormKey.text(of: path)))\"" }

    private static func shown(_ text: String) -> String { PlainText.escape(text.utf8, limit: 200) }
}
