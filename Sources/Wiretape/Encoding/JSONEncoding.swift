public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Puts a dictionary, or any JSON value, into the body as JSON, with `Content-Type: application/json` where the request says none.
public struct JSONEncoding: ParameterEncoding {
    /// With sorted keys, so that recordings are stable.
    public static let `default` = JSONEncoding()
    public static let prettyPrinted = JSONEncoding(options: [.prettyPrinted, .sortedKeys])

    public let options: JSONSerialization.WritingOptions

    public init(options: JSONSerialization.WritingOptions = .sortedKeys) {
        self.options = options
    }

    public func encode(_ request: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest {
        try self.encode(request, withJSONObject: parameters)
    }

    /// - Parameter object: a dictionary, a list, a text, a number, a `Bool` or `NSNull`; nil leaves the request as it is.
    public func encode(_ request: any URLRequestConvertible, withJSONObject object: Any?) throws -> URLRequest {
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
