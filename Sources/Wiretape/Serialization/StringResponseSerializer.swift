public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// The body as text; empty where none came and none had to.
///
/// In this order: the encoding given, a byte order mark, the charset of the Content-Type, UTF-8 where the octets are, ISO-8859-1.
public struct StringResponseSerializer: ResponseSerializer {
    /// In place of what the response says.
    public let encoding: String.Encoding?
    public let dataPreprocessor: any DataPreprocessor
    public let emptyRequestMethods: Set<HTTPMethod>
    public let emptyResponseCodes: Set<Int>

    public init(
        encoding: String.Encoding? = nil, dataPreprocessor: any DataPreprocessor = .passthrough,
        emptyRequestMethods: Set<HTTPMethod> = [.head], emptyResponseCodes: Set<Int> = [204, 205]
    ) {
        self.encoding = encoding
        self.dataPreprocessor = dataPreprocessor
        self.emptyRequestMethods = emptyRequestMethods
        self.emptyResponseCodes = emptyResponseCodes
    }

    public func serialize(request: URLRequest?, response: HTTPResponse?, data: Data?, error: (any Error)?) throws -> String {
        guard let data = try self.body(request: request, response: response, data: data, error: error) else { return "" }
        guard let encoding = self.encoding else { return try BodyText(data, contentType: response?.headers["Content-Type"]).text }
        guard let text = String(data: data, encoding: encoding) else {
            throw SerializationError(.invalidText, "the body's \(data.count) octets are no text in \(encoding): choose another encoding")
        }
        return text
    }
}

extension DownloadResponseSerializer where Self == StringResponseSerializer {
    public static var string: StringResponseSerializer { StringResponseSerializer() }
    public static func string(encoding: String.Encoding) -> StringResponseSerializer { StringResponseSerializer(encoding: encoding) }
}
