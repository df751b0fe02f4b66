public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Puts `Encodable` parameters into the body as a property list, with `Content-Type: application/x-plist` where the request says none.
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
                .notEncodable, "the parameters of type \"\(Parameters.self)\" make no property list: \(error)", underlying: error)
        }
        return request
    }
}

extension ParameterEncoder where Self == PropertyListParameterEncoder {
    public static var propertyList: PropertyListParameterEncoder { PropertyListParameterEncoder() }

    public static func propertyList(format: PropertyListSerialization.PropertyListFormat) -> PropertyListParameterEncoder {
        PropertyListParameterEncoder(format: format)
    }
}
