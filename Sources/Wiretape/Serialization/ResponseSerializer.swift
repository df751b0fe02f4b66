public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Makes a value of a response's body.
///
/// Knows nothing of where the response came from: what it makes of a replayed one is what it made of the live one.
public protocol ResponseSerializer<SerializedObject>: DownloadResponseSerializer {
    associatedtype SerializedObject

    /// Runs on the body before the serializer does.
    var dataPreprocessor: any DataPreprocessor { get }
    /// Methods whose responses may have no body.
    var emptyRequestMethods: Set<HTTPMethod> { get }
    /// Statuses whose responses may have no body.
    var emptyResponseCodes: Set<Int> { get }

    /// - Parameters:
    ///   - request: as it went out last; nil where none did.
    ///   - response: nil where none came.
    ///   - data: the whole body, free of codings; nil or empty where there was none.
    ///   - error: what the request failed with; thrown as it is.
    /// - Throws: the request's error, `SerializationError`, or an error of the serializer's own.
    func serialize(request: URLRequest?, response: HTTPResponse?, data: Data?, error: (any Error)?) throws -> SerializedObject
}

extension ResponseSerializer {
    public var dataPreprocessor: any DataPreprocessor { .passthrough }
    /// HEAD, whose response never has a body (RFC 9110, 9.3.2).
    public var emptyRequestMethods: Set<HTTPMethod> { EmptyBodyRule.requestMethods }
    /// 204 and 205 (RFC 9110, 15.3.5 and 15.3.6).
    public var emptyResponseCodes: Set<Int> { EmptyBodyRule.responseCodes }

    /// The body, preprocessed; nil where none came and none had to.
    ///
    /// - Throws: `error` if there is one; `SerializationError` where a body had to come.
    public func body(request: URLRequest?, response: HTTPResponse?, data: Data?, error: (any Error)?) throws -> Data? {
        if let error { throw error }
        if let data, !data.isEmpty { return try self.dataPreprocessor.preprocess(data) }
        try EmptyBodyRule(requestMethods: self.emptyRequestMethods, responseCodes: self.emptyResponseCodes)
            .check(method: request?.method, status: response?.status)
        return nil
    }

    public func serializeDownload(request: URLRequest?, response: HTTPResponse?, fileURL: URL?, error: (any Error)?) throws
        -> SerializedObject
    {
        if let error { throw error }
        let data: Data? = try fileURL.map { url in
            do {
                return try Data(contentsOf: url, options: .mappedIfSafe)
            } catch {
                throw SerializationError(
                    .unreadableFile, "the downloaded file \"\(url.path)\" cannot be read: leave it in its place until it is serialized",
                    underlying: error)
            }
        }
        return try self.serialize(request: request, response: response, data: data, error: nil)
    }
}
