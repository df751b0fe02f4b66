public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Puts a dictionary into the body as a property list, with `Content-Type: application/x-plist` where the request says none.
public struct PropertyListEncoding: ParameterEncoding {
    public static let xml = PropertyListEncoding(format: .xml)
    public static let binary = PropertyListEncoding(format: .binary)

    public let format: PropertyListSerialization.PropertyListFormat

    /// - Parameter format: `.xml` or `.binary`.
    public init(format: PropertyListSerialization.PropertyListFormat = .xml) {
        self.format = format
    }

    public func encode(_ request: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest {
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
