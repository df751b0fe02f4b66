public import Foundation
internal import TapeBytes
public import Wiretape

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Parameters of dynamic type: texts, numbers, `Bool`, lists and dictionaries of them, and `Encodable` values.
public typealias Parameters = [String: any Sendable]

/// Puts a dictionary of parameters into a request.
public protocol ParameterEncoding: Sendable {
    /// - Parameter parameters: nil leaves the request as it is.
    /// - Throws: the request's error, `ParameterEncodingError`, `URLConversionError`, or the encoding's own error.
    func encode(_ request: any HTTPSession.URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest
}

/// Puts a dictionary into the query or the body as `application/x-www-form-urlencoded`: `key[]=value` for lists, `key[name]=value` for
/// dictionaries, sorted by name.
///
/// `Encodable` values are written as `HTTPSession.URLEncodedFormEncoder` writes them; nil and `NSNull` are left out.
public struct URLEncoding: ParameterEncoding {
    public typealias Destination = HTTPSession.ParameterDestination
    public typealias ArrayEncoding = HTTPSession.URLEncodedFormEncoder.ArrayEncoding
    public typealias BoolEncoding = HTTPSession.URLEncodedFormEncoder.BoolEncoding

    public static let `default` = URLEncoding()
    public static let queryString = URLEncoding(destination: .queryString)
    public static let httpBody = URLEncoding(destination: .httpBody)

    public let destination: Destination
    public let arrayEncoding: ArrayEncoding
    public let boolEncoding: BoolEncoding

    public init(
        destination: Destination = .methodDependent, arrayEncoding: ArrayEncoding = .brackets, boolEncoding: BoolEncoding = .numeric
    ) {
        self.destination = destination
        self.arrayEncoding = arrayEncoding
        self.boolEncoding = boolEncoding
    }

    public func encode(_ request: any HTTPSession.URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest {
        let encoder = HTTPSession.URLEncodedFormParameterEncoder(encoder: self.encoder, destination: self.destination)
        return try encoder.encode(parameters.map(DynamicParameters.init), into: try request.asURLRequest())
    }

    /// The parameters as a query.
    public func query(_ parameters: Parameters) throws -> String { try self.encoder.encode(DynamicParameters(parameters)) }

    private var encoder: HTTPSession.URLEncodedFormEncoder {
        HTTPSession.URLEncodedFormEncoder(arrayEncoding: self.arrayEncoding, boolEncoding: self.boolEncoding)
    }
}

/// A dictionary of values of dynamic type as an `Encodable` object.
private struct DynamicParameters: Encodable, Sendable {
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }

        init?(intValue: Int) { nil }
    }

    /// One of the values, classified when it is encoded, because it may hold objects that are not Sendable.
    private struct Value: Encodable {
        let value: Any

        func encode(to encoder: any Encoder) throws {
            switch FoundationValue(self.value) {
            case .null:
                var container = encoder.singleValueContainer()
                try container.encodeNil()
            case .bool(let bool): try self.encode(bool, to: encoder)
            case .text(let text): try self.encode(text, to: encoder)
            case .number(let number): try self.encode(FoundationValue.text(of: number), to: encoder)
            case .encodable(let value): try self.encode(value, to: encoder)
            case .array(let elements):
                var container = encoder.unkeyedContainer()
                // Parameters have no null, so nothing is sent for it.
                for element in elements where !FoundationValue(element).isNull { try container.encode(Value(value: element)) }
            case .dictionary(let members): try Self.encode(members, to: encoder)
            case .unknown(let type):
                let path = SerializableValue.text(of: encoder.codingPath.map(\.stringValue))
                throw ParameterEncodingError(
                    .unsupportedValue,
                    "\"\(PlainText.escape(path.utf8, limit: 200))\" has the unsupported type \"\(type)\": use a string, a number, an array, a dictionary or an Encodable value"
                )
            }
        }

        /// Uses the encoder, which has its own forms for dates and URLs, instead of the value's own method.
        private func encode(_ value: any Encodable, to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }

        static func encode(_ members: [String: Any], to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Name.self)
            // Sorted, since a dictionary has no order.
            for (name, value) in members.sorted(by: { $0.key < $1.key }) where !FoundationValue(value).isNull {
                try container.encode(Value(value: value), forKey: Name(stringValue: name))
            }
        }
    }

    let parameters: Parameters

    init(_ parameters: Parameters) { self.parameters = parameters }

    func encode(to encoder: any Encoder) throws { try Value.encode(self.parameters, to: encoder) }
}

extension ParameterEncoding where Self == URLEncoding {
    public static var url: URLEncoding { URLEncoding() }
}

/// Puts a dictionary, or any JSON value, into the body as JSON, with `Content-Type: application/json` unless the request has one.
public struct JSONEncoding: ParameterEncoding {
    /// With sorted keys, so that recordings are stable.
    public static let `default` = JSONEncoding()
    public static let prettyPrinted = JSONEncoding(options: [.prettyPrinted, .sortedKeys])

    public let options: JSONSerialization.WritingOptions

    public init(options: JSONSerialization.WritingOptions = .sortedKeys) {
        self.options = options
    }

    public func encode(_ request: any HTTPSession.URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest {
        try self.encode(request, withJSONObject: parameters)
    }

    /// - Parameter object: a dictionary, a list, a text, a number, a `Bool` or `NSNull`; nil leaves the request as it is.
    public func encode(_ request: any HTTPSession.URLRequestConvertible, withJSONObject object: Any?) throws -> URLRequest {
        var request = try request.asURLRequest()
        guard let object else { return request }
        let value = try SerializableValue(format: .json).object(object)
        let data = try JSONSerialization.data(withJSONObject: value, options: self.options.union(.fragmentsAllowed))
        request.setBody(data, type: "application/json")
        return request
    }
}

extension ParameterEncoding where Self == JSONEncoding {
    public static var json: JSONEncoding { JSONEncoding() }
}

/// Puts a dictionary into the body as a property list, with `Content-Type: application/x-plist` unless the request has one.
public struct PropertyListEncoding: ParameterEncoding {
    public static let xml = PropertyListEncoding(format: .xml)
    public static let binary = PropertyListEncoding(format: .binary)

    public let format: PropertyListSerialization.PropertyListFormat

    /// - Parameter format: `.xml` or `.binary`.
    public init(format: PropertyListSerialization.PropertyListFormat = .xml) {
        self.format = format
    }

    public func encode(_ request: any HTTPSession.URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest {
        var request = try request.asURLRequest()
        guard let parameters else { return request }
        let value = try SerializableValue(format: .propertyList).object(parameters)
        let data = try PropertyListSerialization.data(fromPropertyList: value, format: self.format, options: 0)
        request.setBody(data, type: "application/x-plist")
        return request
    }
}

extension ParameterEncoding where Self == PropertyListEncoding {
    public static var propertyList: PropertyListEncoding { PropertyListEncoding() }
}

extension URLRequest {
    /// Replaces the body, and sets its type unless the request has one.
    fileprivate mutating func setBody(_ body: Data, type: String) {
        self.httpBody = body
        if self.value(forHTTPHeaderField: "Content-Type") == nil { self.setValue(type, forHTTPHeaderField: "Content-Type") }
    }
}

extension HTTPSession {
    /// A request with a dictionary of parameters.
    public func request(
        _ url: any URLConvertible, method: Method = .get, parameters: Parameters?,
        encoding: any ParameterEncoding = URLEncoding.default, headers: Headers? = nil,
        interceptor: (any HTTPSession.RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil
    ) -> DataRequest {
        self.request(url, method: method, headers: headers, interceptor: interceptor) { request in
            request = try encoding.encode(request, with: parameters)
            try requestModifier?(&request)
        }
    }
}
