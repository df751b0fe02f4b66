public import Foundation

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
        let request = try request.asURLRequest()
        guard let parameters else { return request }
        return try self.destination.put(try self.query(parameters), into: request)
    }

    /// The parameters as a query.
    public func query(_ parameters: Parameters) throws -> String {
        let encoder = HTTPSession.URLEncodedFormEncoder(arrayEncoding: self.arrayEncoding, boolEncoding: self.boolEncoding)
        return encoder.write(try encoder.fields.pairs(of: FormValue(parameters, encoder.leaves)))
    }
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
        request.fillBody(data, contentType: "application/json")
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
        request.fillBody(data, contentType: "application/x-plist")
        return request
    }
}

extension ParameterEncoding where Self == PropertyListEncoding {
    public static var propertyList: PropertyListEncoding { PropertyListEncoding() }
}
