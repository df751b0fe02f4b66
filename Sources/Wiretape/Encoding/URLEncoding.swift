#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

/// Puts a dictionary into the query or the body as `application/x-www-form-urlencoded`: `key[]=value` for lists, `key[name]=value` for
/// dictionaries, sorted by name.
///
/// `Encodable` values are written as `URLEncodedFormEncoder` writes them; nil and `NSNull` are left out.
public struct URLEncoding: ParameterEncoding {
    public typealias Destination = ParameterDestination
    public typealias ArrayEncoding = URLEncodedFormEncoder.ArrayEncoding
    public typealias BoolEncoding = URLEncodedFormEncoder.BoolEncoding

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

    public func encode(_ request: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest {
        let request = try request.asURLRequest()
        guard let parameters else { return request }
        return try self.destination.put(try self.query(parameters), into: request)
    }

    /// The parameters as they stand in a query.
    public func query(_ parameters: Parameters) throws -> String {
        let encoder = URLEncodedFormEncoder(arrayEncoding: self.arrayEncoding, boolEncoding: self.boolEncoding)
        return encoder.write(try encoder.fields.pairs(of: FormValue(parameters, encoder.leaves)))
    }
}

extension ParameterEncoding where Self == URLEncoding {
    public static var url: URLEncoding { URLEncoding() }
}
