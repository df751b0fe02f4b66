public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// The body as a property list, in XML or binary; an empty dictionary where none came and none had to.
public struct PropertyListResponseSerializer: ResponseSerializer {
    public let dataPreprocessor: any DataPreprocessor
    public let emptyRequestMethods: Set<HTTPMethod>
    public let emptyResponseCodes: Set<Int>

    public init(
        dataPreprocessor: any DataPreprocessor = .passthrough, emptyRequestMethods: Set<HTTPMethod> = [.head],
        emptyResponseCodes: Set<Int> = [204, 205]
    ) {
        self.dataPreprocessor = dataPreprocessor
        self.emptyRequestMethods = emptyRequestMethods
        self.emptyResponseCodes = emptyResponseCodes
    }

    public func serialize(request: URLRequest?, response: HTTPResponse?, data: Data?, error: (any Error)?) throws -> PropertyListValue {
        guard let data = try self.body(request: request, response: response, data: data, error: error) else { return .dictionary([:]) }
        var format = PropertyListSerialization.PropertyListFormat.xml
        do {
            let object = try PropertyListSerialization.propertyList(from: data, options: [], format: &format)
            // A word alone is a list of the oldest format, and so would be much that is none.
            guard format != .openStep else { throw CocoaError(.propertyListReadCorrupt) }
            if let value = PropertyListValue(object) { return value }
        } catch {
            throw SerializationError(
                .invalidPropertyList, "the body's \(data.count) octets are no property list in XML or binary: look at it as text",
                underlying: error)
        }
        throw SerializationError(.invalidPropertyList, "the property list has a value of no known type: decode it into a type of your own")
    }
}

extension DownloadResponseSerializer where Self == PropertyListResponseSerializer {
    public static var propertyList: PropertyListResponseSerializer { PropertyListResponseSerializer() }
}
