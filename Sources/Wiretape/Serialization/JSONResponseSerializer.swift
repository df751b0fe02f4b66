public import Foundation
public import TapeBytes

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// The body as a JSON value (RFC 8259), exactly as it was written; `null` where none came and none had to.
///
/// `JSONValue.foundationObject` makes dictionaries and lists of it.
public struct JSONResponseSerializer: ResponseSerializer {
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

    public func serialize(request: URLRequest?, response: HTTPResponse?, data: Data?, error: (any Error)?) throws -> JSONValue {
        let data = try self.body(request: request, response: response, data: data, error: error)
        // RFC 8259, 8.1: parsers may pass over a byte order mark.
        let octets = data.map { $0.starts(with: [0xEF, 0xBB, 0xBF]) ? [UInt8]($0.dropFirst(3)) : [UInt8]($0) } ?? Array("null".utf8)
        do {
            return try JSONDocument(octets).root
        } catch {
            throw SerializationError(
                .invalidJSON, "the body is no JSON at octet \(error.offset) in line \(error.line): \(error.reason); look at it as text",
                underlying: error)
        }
    }
}

extension DownloadResponseSerializer where Self == JSONResponseSerializer {
    public static var json: JSONResponseSerializer { JSONResponseSerializer() }
}
