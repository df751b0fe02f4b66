public import TapeBytes
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension HTTPSession {
    /// Puts `Encodable` parameters into a request.
    public protocol ParameterEncoder: Sendable {
        /// - Parameter parameters: nil leaves the request as it is.
        /// - Throws: `ParameterEncodingError`, `URLConversionError`, or the encoder's own error.
        func encode<Parameters: Encodable & Sendable>(_ parameters: Parameters?, into request: URLRequest) throws -> URLRequest
    }

    /// Puts `Encodable` parameters into the query or the body as `application/x-www-form-urlencoded`.
    public struct URLEncodedFormParameterEncoder: ParameterEncoder {
        public typealias Destination = ParameterDestination

        public var encoder: URLEncodedFormEncoder
        public var destination: Destination

        public init(encoder: URLEncodedFormEncoder = URLEncodedFormEncoder(), destination: Destination = .methodDependent) {
            self.encoder = encoder
            self.destination = destination
        }

        public func encode<Parameters: Encodable & Sendable>(_ parameters: Parameters?, into request: URLRequest) throws -> URLRequest {
            guard let parameters else { return request }
            return try self.destination.put(try self.encoder.encode(parameters), into: request)
        }
    }
}

extension HTTPSession.ParameterEncoder where Self == HTTPSession.URLEncodedFormParameterEncoder {
    public static var urlEncodedForm: HTTPSession.URLEncodedFormParameterEncoder { HTTPSession.URLEncodedFormParameterEncoder() }

    public static func urlEncodedForm(
        encoder: HTTPSession.URLEncodedFormEncoder = HTTPSession.URLEncodedFormEncoder(),
        destination: HTTPSession.ParameterDestination = .methodDependent
    ) -> HTTPSession.URLEncodedFormParameterEncoder {
        HTTPSession.URLEncodedFormParameterEncoder(encoder: encoder, destination: destination)
    }
}

extension HTTPSession {
    /// Puts `Encodable` parameters into the body as JSON, with `Content-Type: application/json` unless the request has one.
    public struct JSONParameterEncoder: ParameterEncoder {
        public var encoder: JSONEncoder

        /// With sorted keys, so that recordings are stable.
        public init() {
            self.init(encoder: JSONEncoder())
            self.encoder.outputFormatting = .sortedKeys
        }

        /// - Parameter encoder: must not be changed afterwards. Without `.sortedKeys` the body differs from run to run.
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
                    .notEncodable, "the parameters of type \"\(Parameters.self)\" could not be encoded as JSON: \(error)", cause: error)
            }
            return request
        }
    }
}

extension HTTPSession.ParameterEncoder where Self == HTTPSession.JSONParameterEncoder {
    public static var json: HTTPSession.JSONParameterEncoder { HTTPSession.JSONParameterEncoder() }
    public static func json(encoder: JSONEncoder) -> HTTPSession.JSONParameterEncoder { HTTPSession.JSONParameterEncoder(encoder: encoder) }
}

extension HTTPSession {
    /// Puts `Encodable` parameters into the body as a property list, with `Content-Type: application/x-plist` unless the request has one.
    public struct PropertyListParameterEncoder: ParameterEncoder {
        public var format: PropertyListSerialization.PropertyListFormat

        /// - Parameter format: `.xml` or `.binary`.
        public init(format: PropertyListSerialization.PropertyListFormat = .xml) {
            self.format = format
        }

        public func encode<Parameters: Encodable & Sendable>(_ parameters: Parameters?, into request: URLRequest) throws -> URLRequest {
            guard let parameters else { return request }
            var request = request
            let encoder = PropertyListEncoder()
            encoder.outputFormat = self.format
            do {
                request.fillBody(try encoder.encode(parameters), contentType: "application/x-plist")
            } catch {
                throw ParameterEncodingError(
                    .notEncodable, "the parameters of type \"\(Parameters.self)\" could not be encoded as a property list: \(error)",
                    cause: error)
            }
            return request
        }
    }
}

extension HTTPSession.ParameterEncoder where Self == HTTPSession.PropertyListParameterEncoder {
    public static var propertyList: HTTPSession.PropertyListParameterEncoder { HTTPSession.PropertyListParameterEncoder() }

    public static func propertyList(format: PropertyListSerialization.PropertyListFormat) -> HTTPSession.PropertyListParameterEncoder {
        HTTPSession.PropertyListParameterEncoder(format: format)
    }
}

extension HTTPSession {
    /// Where form-encoded parameters go.
    public enum ParameterDestination: Sendable, Hashable {
        /// Into the query for GET, HEAD and DELETE, otherwise into the body.
        case methodDependent
        /// After the existing query.
        case queryString
        /// In place of the existing body.
        case httpBody

        func isQuery(for method: Method) -> Bool {
            switch self {
            case .methodDependent: [.get, .head, .delete].contains(method)
            case .queryString: true
            case .httpBody: false
            }
        }

        /// - Parameter form: percent-encoded.
        func put(_ form: String, into request: URLRequest) throws -> URLRequest {
            var request = request
            if self.isQuery(for: request.method ?? .get) {
                guard let url = request.url else {
                    throw ParameterEncodingError(.missingURL, "the request has no URL for a query: set one")
                }
                request.url = try url.appending(query: form)
            } else {
                request.fillBody(Data(form.utf8), contentType: "application/x-www-form-urlencoded; charset=utf-8")
            }
            return request
        }
    }
}

extension URLRequest {
    /// Replaces the body, and sets its type unless the request has one.
    mutating func fillBody(_ body: Data, contentType: String) {
        self.httpBody = body
        if self.value(forHTTPHeaderField: "Content-Type") == nil { self.setValue(contentType, forHTTPHeaderField: "Content-Type") }
    }
}

/// Why parameters could not be encoded into a request.
///
/// The message names the parameter, what went wrong with it, and what to do next. It never contains a value.
/// The cause is the error that an encoder or a caller's closure threw.
public typealias ParameterEncodingError = CodedError<HTTPSession.ParameterEncodingErrorCode>

extension HTTPSession {
    /// A kind of error; more kinds may be added.
    public struct ParameterEncodingErrorCode: Hashable, Sendable, CustomStringConvertible {
        private enum Value { case missingURL, notAnObject, unsupportedValue, tooDeep, notEncodable }

        private var value: Value

        /// A request without a URL has no place for a query.
        public static var missingURL: Self { Self(value: .missingURL) }
        /// A form needs names: a number, a text or a list alone has none.
        public static var notAnObject: Self { Self(value: .notAnObject) }
        /// A value of a type that the encoding cannot write.
        public static var unsupportedValue: Self { Self(value: .unsupportedValue) }
        /// Values nested too deeply, or infinitely.
        public static var tooDeep: Self { Self(value: .tooDeep) }
        /// An encoder threw: see `cause`.
        public static var notEncodable: Self { Self(value: .notEncodable) }

        public var description: String { "\(self.value)" }
    }
}
